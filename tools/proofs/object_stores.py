#!/usr/bin/env python3
"""Commands with paths of buckets, beside servers and clients that others made.

    tools/proofs/object_stores.py --build build

S3 is moto's server, which boto3 fills and reads; Google Cloud Storage is gcp-storage-emulator, which Google's own client fills
and reads. `strata data convert` and `strata data show` read and write objects of 27 MB, which go up in parts.
"""
import argparse
import logging
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import peers

RECORDS = 30_000
PACKAGES = ["moto[s3,server]==5.2.5", "boto3==1.44.8", "gcp-storage-emulator==2026.7.19", "google-cloud-storage==3.17.1"]


def texts():
    words = random.Random(7)
    return "".join('{"text": "%s"}\n' % " ".join(str(words.randrange(10**9)) for _ in range(90)) for _ in range(RECORDS))


def run(strata, environment, *arguments):
    done = subprocess.run([strata, *arguments], env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"strata {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def check(strata, environment, scheme, put, get):
    """Converts an object that the original's client wrote into another, which that client reads."""
    lines = texts().encode()
    put("data/in.jsonl", lines)
    root = f"{scheme}://bucket/data"
    run(strata, environment, "data", "convert", f"{root}/in.jsonl", f"{root}/out.array_record")
    run(strata, environment, "data", "convert", f"{root}/out.array_record", f"{root}/back.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        near = pathlib.Path(folder)
        (near / "in.jsonl").write_bytes(lines)
        run(strata, environment, "data", "convert", str(near / "in.jsonl"), str(near / "out.array_record"))
        run(strata, environment, "data", "convert", str(near / "out.array_record"), str(near / "back.jsonl"))
        for name in ("out.array_record", "back.jsonl"):
            if get(f"data/{name}") != (near / name).read_bytes():
                sys.exit(f"{scheme}: {name} has other bytes than on a disk")
    shown = run(strata, environment, "data", "show", f"{root}/out.array_record")
    if str(RECORDS) not in shown.replace(",", "").replace(" ", ""):
        sys.exit(f"{scheme}: `strata data show` says\n{shown}")
    print(f"ok {scheme}://: {len(lines)} bytes read, converted and written back", flush=True)


def s3(strata):
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    url = "http://127.0.0.1:%d" % server.get_host_and_port()[1]
    keys = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="id", aws_secret_access_key="secret")
    client.create_bucket(Bucket="bucket")
    check(strata, {**keys, "AWS_ENDPOINT_URL": url}, "s3",
          lambda key, data: client.put_object(Bucket="bucket", Key=key, Body=data),
          lambda key: client.get_object(Bucket="bucket", Key=key)["Body"].read())
    server.stop()


def gcs(strata):
    from gcp_storage_emulator.server import create_server
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage

    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
    server.start()
    url = "http://127.0.0.1:%d" % server._api._httpd.server_address[1]
    os.environ["STORAGE_EMULATOR_HOST"] = url
    bucket = storage.Client(project="p", credentials=AnonymousCredentials()).bucket("bucket")
    check(strata, {"STORAGE_EMULATOR_HOST": url}, "gs",
          lambda key, data: bucket.blob(key).upload_from_string(data),
          lambda key: bucket.blob(key).download_as_bytes())
    server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the folder of the build")
    strata = os.path.abspath(os.path.join(parser.parse_args().build, "bin", "strata"))
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    s3(strata)
    gcs(strata)


if __name__ == "__main__":
    peers.need(["moto.server", "gcp_storage_emulator", "google.cloud.storage"], PACKAGES)
    main()
