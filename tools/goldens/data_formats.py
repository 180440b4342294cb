#!/usr/bin/env python3
"""Writes strata/data/format/testdata/: files of data formats as their released originals write them, which Strata reads.

    NAME.array_record.gz    array-record, uncompressed in groups of 1 and 7, and in groups of 7 by zstd, brotli and snappy
    records.tfrecord        records behind the masked checksums of the tfrecord package
    example.tfrecord        two equal tf.train.Example, serialised deterministically
    records.bag[z], apart.bagz, limits.apart.bagz    bagz
    samples.tar             webdataset
    mds_plain, mds_zstd     mosaicml-streaming
    rows.safetensors        safetensors
    megatron.bin, .idx      the layout of megatron-core's indexed_dataset.py, by numpy

Nothing is random. `data_formats.py check STRATA` has the program write files and reads them with the originals.
Needs the packages of REQUIREMENTS; makes build/peers with them when this Python has none.
"""
import gzip
import pathlib
import shutil
import struct
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "strata/data/format/testdata"
REQUIREMENTS = ["array-record==0.8.6", "bagz==0.3.8", "webdataset==1.0.2", "mosaicml-streaming==0.13.0", "tfrecord==1.14.6",
                "safetensors==0.8.0"]

try:
    import bagz
    import numpy as np
    import tfrecord  # noqa: F401
    import webdataset
    from array_record.python import array_record_module
except ImportError:
    from peers import again_with

    again_with(*REQUIREMENTS)


def records(count):
    return [bytes((i * 7 + j) % 251 for j in range(i * 13)) for i in range(count)]


def array_records():
    options = {"plain": "group_size:1,uncompressed", "group": "group_size:7,uncompressed", "zstd": "group_size:7,zstd:3",
               "brotli": "group_size:7,brotli:6", "snappy": "group_size:7,snappy"}
    for name, option in options.items():
        with tempfile.NamedTemporaryFile() as file:
            writer = array_record_module.ArrayRecordWriter(file.name, option)
            for record in records(40):
                writer.write(record)
            writer.close()
            (DATA / f"{name}.array_record.gz").write_bytes(gzip.compress(pathlib.Path(file.name).read_bytes(), 9, mtime=0))


def tf_records():
    from tfrecord.writer import TFRecordWriter

    with open(DATA / "records.tfrecord", "wb") as file:
        for record in records(20):
            length = struct.pack("<Q", len(record))
            file.write(length + TFRecordWriter.masked_crc(length) + record + TFRecordWriter.masked_crc(record))


def examples():
    from tfrecord import example_pb2 as pb
    from tfrecord.writer import TFRecordWriter

    def feature(**value):
        (kind, values), = value.items()
        message = {"bytes_list": pb.BytesList, "float_list": pb.FloatList, "int64_list": pb.Int64List}[kind]
        return pb.Feature(**{kind: message(value=values)})

    features = {"b": feature(bytes_list=[b"\xff"]), "f": feature(float_list=[0.5, -1]), "i": feature(int64_list=[-7]),
                "j": feature(int64_list=[1, 1000000007, -1]), "s": feature(bytes_list=[b"text"]),
                "words": feature(bytes_list=[b"a", b"b"]), "x": feature(float_list=[0.25])}
    record = pb.Example(features=pb.Features(feature=features)).SerializeToString(deterministic=True)
    length = struct.pack("<Q", len(record))
    framed = length + TFRecordWriter.masked_crc(length) + record + TFRecordWriter.masked_crc(record)
    (DATA / "example.tfrecord").write_bytes(framed * 2)


def bagz_files():
    apart = bagz.Writer.Options(limits_placement=bagz.LimitsPlacement.SEPARATE)
    for name, options in {"records.bag": None, "records.bagz": None, "apart.bagz": apart}.items():
        writer = bagz.Writer(str(DATA / name), options) if options else bagz.Writer(str(DATA / name))
        for record in records(20):
            writer.write(record)
        writer.close()


def mds():
    from streaming import MDSWriter

    columns = {"id": "int", "text": "str", "blob": "bytes", "score": "float32", "meta": "json", "vec": "ndarray:float32:3",
               "any": "ndarray", "ids": "ndarray:int32"}
    for compression in [None, "zstd"]:
        folder = DATA / f"mds_{compression or 'plain'}"
        shutil.rmtree(folder, ignore_errors=True)
        with MDSWriter(out=str(folder), columns=columns, compression=compression, hashes=["sha1"] if compression else None,
                       size_limit=1200) as out:
            for i, record in enumerate(records(12)):
                out.write({"id": i * 1000003, "text": f"Zeile {i} é", "blob": record, "score": i / 4, "meta": {"a": i, "b": [1, "x"]},
                           "vec": np.arange(3, dtype=np.float32) + i, "any": np.arange(6, dtype=np.int16).reshape(2, 3) * i,
                           "ids": np.arange(i + 1, dtype=np.int32)})


def tar():
    with webdataset.TarWriter(str(DATA / "samples.tar"), mtime=0, user="u", group="g") as out:
        for i, record in enumerate(records(8)):
            out.write({"__key__": f"a/{i:06d}", "txt": f"caption {i}", "cls": i, "json": {"i": i, "s": "é"}, "bin": record})


def tensors():
    from safetensors.numpy import save_file

    save_file({"x": np.arange(8, dtype=np.float32).reshape(4, 2) / 4, "ids": np.arange(4, dtype=np.int64) * 1000003,
               "flag": np.arange(4) % 2 == 0, "a": np.arange(8, dtype=np.uint8).reshape(4, 1, 2)}, str(DATA / "rows.safetensors"))


def megatron():
    sequences = [np.arange(n, dtype=np.uint16) * 101 for n in [5, 1, 0, 300, 7]]
    lengths = np.array([len(s) for s in sequences], np.int32)
    places = (np.cumsum(lengths, dtype=np.int64) - lengths) * 2
    (DATA / "megatron.bin").write_bytes(b"".join(s.tobytes() for s in sequences))
    head = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, 8, len(sequences), 4)
    documents = np.array([0, 2, 4, 5], np.int64)
    (DATA / "megatron.idx").write_bytes(head + lengths.tobytes() + places.tobytes() + documents.tobytes())


def check(strata):
    """Files that Strata writes, read by the originals."""
    import json
    import subprocess

    from streaming import StreamingDataset
    from tfrecord.reader import example_loader, tfrecord_iterator

    folder = pathlib.Path(tempfile.mkdtemp())

    def convert(source, target, *options):
        subprocess.run([strata, "data", "convert", str(source), str(folder / target), *options], check=True, stdout=subprocess.DEVNULL)
        return str(folder / target)

    (folder / "source.array_record").write_bytes(gzip.decompress((DATA / "plain.array_record.gz").read_bytes()))
    for compression in ["none", "zstd", "brotli", "snappy"]:
        for group in [1, 7, 1000]:
            path = convert(folder / "source.array_record", f"{compression}{group}.array_record", "--records", "raw", "--compression",
                           compression, "--group_size", str(group))
            assert list(array_record_module.ArrayRecordReader(path).read_all()) == records(40), path
    print("array-record reads what Strata writes")
    for name in ["a.bag", "a.bagz"]:
        assert list(bagz.Reader(convert(DATA / "records.tfrecord", name, "--records", "raw"))) == records(20), name
    print("bagz reads what Strata writes")
    path = convert(DATA / "records.bagz", "a.tfrecord", "--records", "raw")
    assert [bytes(r) for r in tfrecord_iterator(path)] == records(20)
    rows = [{"n": i, "text": f"row {i}", "x": i / 4} for i in range(50)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    loaded = list(example_loader(convert(folder / "rows.jsonl", "rows.tfrecord"), None,
                                 {"n": "int", "text": "byte", "x": "float"}))
    assert [{"n": int(r["n"][0]), "text": bytes(r["text"]).decode(), "x": float(r["x"][0])} for r in loaded] == rows
    print("tfrecord reads what Strata writes")
    read = list(StreamingDataset(local=convert(folder / "rows.jsonl", "rows_mds", "--to", "mds", "--shard_bytes", "1024"), shuffle=False,
                                 batch_size=1))
    assert [{"n": int(r["n"]), "text": r["text"], "x": float(r["x"])} for r in read] == rows
    print("mosaicml-streaming reads what Strata writes")
    read = list(webdataset.WebDataset(convert(folder / "rows.jsonl", "rows.tar"), shardshuffle=False).decode())
    assert [{"n": r["n.cls"], "text": r["text"], "x": r["x.json"]} for r in read] == rows
    print("webdataset reads what Strata writes")
    from safetensors.numpy import load_file, save_file

    np.savez(folder / "rows.npz", x=np.arange(300, dtype=np.float32).reshape(100, 3), n=np.arange(100), h=np.ones((100, 2, 1), np.float16))
    path = convert(folder / "rows.npz", "rows.safetensors")
    arrays = dict(np.load(folder / "rows.npz"))
    assert all((load_file(path)[k] == v).all() and load_file(path)[k].dtype == v.dtype for k, v in arrays.items())
    save_file(arrays, folder / "theirs.safetensors")
    assert pathlib.Path(path).read_bytes() == (folder / "theirs.safetensors").read_bytes()
    print("safetensors reads what Strata writes, and writes the same bytes")
    shutil.rmtree(folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(sys.argv[2])
    else:
        DATA.mkdir(exist_ok=True)
        for write in [array_records, tf_records, examples, bagz_files, mds, tar, tensors, megatron]:
            write()
