#!/usr/bin/env python3
"""Commands with paths of buckets, beside servers and clients that others made.

    tools/proofs/object_stores.py --build build

S3 is moto's server, which boto3 fills and reads; Google Cloud Storage is gcp-storage-emulator, which Google's own client fills
and reads. `strata data convert` and `strata data show` read and write objects of 27 MB, which go up in parts. A run trains into the
bucket, beside the same run on a disk, and every command of `strata checkpoint` does there what it does on the disk: the checkpoints
are the same bits, what the client damages is found, and a bucket that is not there is named.
"""
import argparse
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import peers

RECORDS = 30_000
SMALL = ["base_emb_dim=16", "base_num_query_heads=2", "base_num_kv_heads=1", "head_dim=8", "base_mlp_dim=24", "base_num_decoder_layers=1",
         "max_target_length=16", "per_device_batch_size=2"]
PACKAGES = ["moto[s3,server]==5.2.5", "boto3==1.44.8", "gcp-storage-emulator==2026.7.19", "google-cloud-storage==3.17.1"]


def texts():
    words = random.Random(7)
    return "".join('{"text": "%s"}\n' % " ".join(str(words.randrange(10**9)) for _ in range(90)) for _ in range(RECORDS))


def run(strata, environment, *arguments, status=0):
    done = subprocess.run([strata, *arguments], env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"strata {' '.join(arguments)}: exit {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def tour(strata, environment, scheme, put, get):
    """The commands of `strata checkpoint` on a run in the bucket and on the same run on a disk."""
    say = lambda *arguments, status=0: run(strata, environment, "checkpoint", *arguments, status=status)
    bucket = f"{scheme}://bucket/runs"
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "text.txt")
        pathlib.Path(text).write_text("".join(f"Verse {i} of a little book, where {i * i % 97} follows.\n" for i in range(300)))
        for form in ("strata", "orbax"):
            for root in (bucket, folder):
                run(strata, environment, "train", f"train_files={text}", f"base_output_directory={root}", f"run_name={form}", "steps=6",
                    "checkpoint_period=2", f"checkpoint_format={form}", *SMALL)
            there, here = f"{bucket}/{form}", f"{folder}/{form}"
            steps = [entry["step"] for entry in json.loads(say("list", there, "--json"))["checkpoints"]]
            assert steps == [2, 4, 6], steps
            assert "whole" in say("verify", there)
            assert say("show", there).splitlines()[1:2] == say("show", here).splitlines()[1:2]
            for step in steps:
                say("diff", f"{there}/checkpoints/{step}", f"{here}/checkpoints/{step}")
            for to in ("orbax", "strata", "safetensors"):
                out = f"{bucket}/{form}-to-{to}" + ("/x.safetensors" if to == "safetensors" else "")
                say("convert", f"{there}/checkpoints/6", out, "--to", to)
                near = f"{folder}/{form}-to-{to}" + (".safetensors" if to == "safetensors" else "")
                say("convert", f"{here}/checkpoints/6", near, "--to", to)
                say("diff", out, near)
            say("reshard", there, f"{bucket}/{form}-4", "--shards", "4")
            say("reshard", f"{bucket}/{form}-4", f"{folder}/{form}-4", "--shards", "2")
            say("diff", f"{folder}/{form}-4", here)
            for out in (f"{bucket}/{form}-any", f"{folder}/{form}-any"):
                say("materialize", "--step", "5", there, out)
            say("diff", f"{bucket}/{form}-any/5", f"{folder}/{form}-any/5")
            assert "checkpoints/2" in say("prune", there, "--newest", "2", "--dry-run")
            say("prune", there, "--newest", "2")
            assert [entry["step"] for entry in json.loads(say("list", there, "--json"))["checkpoints"]] == [4, 6]
            # The largest object of the newest step loses a bit: verify says so, others take the step before.
            key = max((key for key in get(None) if key.startswith(f"runs/{form}/checkpoints/6/")), key=lambda key: len(get(key)))
            bytes_ = bytearray(get(key))
            bytes_[len(bytes_) // 2] ^= 1
            put(key, bytes(bytes_))
            said = say("verify", there, status=1)
            assert "damaged" in said and "6" in said, (key, said)
            assert "passed over" in say("show", there)
    for command in ("list", "show", "verify"):
        said = say(command, f"{scheme}://no-such-bucket/run", status=2)
        assert "no-such-bucket" in said, said
    print(f"ok {scheme}://: runs of both formats and every command of strata checkpoint", flush=True)


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
    get = lambda key: client.get_object(Bucket="bucket", Key=key)["Body"].read() if key else [
        found["Key"] for page in client.get_paginator("list_objects_v2").paginate(Bucket="bucket") for found in page["Contents"]]
    put = lambda key, data: client.put_object(Bucket="bucket", Key=key, Body=data)
    for proof in (tour, check):
        proof(strata, {**keys, "AWS_ENDPOINT_URL": url}, "s3", put, get)
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
    get = lambda key: bucket.blob(key).download_as_bytes() if key else [blob.name for blob in bucket.list_blobs()]
    put = lambda key, data: bucket.blob(key).upload_from_string(data)
    for proof in (tour, check):
        proof(strata, {"STORAGE_EMULATOR_HOST": url}, "gs", put, get)
    server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the folder of the build")
    strata = os.path.abspath(os.path.join(parser.parse_args().build, "bin", "strata"))
    for server in ("werkzeug", "gcp_storage_emulator"):
        logging.getLogger(server).setLevel(logging.CRITICAL)
    s3(strata)
    gcs(strata)


if __name__ == "__main__":
    peers.need(["moto.server", "gcp_storage_emulator", "google.cloud.storage"], PACKAGES)
    main()
