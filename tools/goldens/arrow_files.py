#!/usr/bin/env python3
"""Writes strata/data/arrow/testdata/: small files of pyarrow and datasets, which Strata reads.

    types.parquet, types.arrow, types.arrows     a column of every type that is read, with missing values; two row groups
    pages.parquet                                1000 rows by dictionaries and delta encodings, data pages of version 2, gzip
    saved/                                       DatasetDict.save_to_disk

Nothing is random. `arrow_files.py check STRATA` has the program convert these to each other and reads what it writes with the originals.
Needs the packages of REQUIREMENTS; makes build/peers with them when this Python has none.
"""
import datetime
import decimal
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "strata/data/arrow/testdata"
REQUIREMENTS = ["pyarrow==26.0.1", "datasets==5.2.0"]

try:
    import datasets
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq
except ImportError:
    from peers import again_with

    again_with(*REQUIREMENTS)


def types():
    when = datetime.datetime(2024, 2, 29, 12, 0, 0, 500000)
    return pa.table({
        "flag": pa.array([True, None, False, True]),
        "i8": pa.array([-1, 2, None, 127], pa.int8()),
        "u64": pa.array([0, 2**64 - 1, None, 7], pa.uint64()),
        "i64": pa.array([-(2**63), 2**63 - 1, None, 1]),
        "f32": pa.array([0.5, None, -1.25, 3], pa.float32()),
        "f64": pa.array([0.1, None, -1e300, 3.0]),
        "text": pa.array(["", "é", None, "a text beyond twelve bytes"]),
        "large": pa.array(["x", "yy", None, ""], pa.large_string()),
        "raw": pa.array([b"\x00\xff", b"", None, b"abc"]),
        "three": pa.array([b"abc", b"def", None, b"\x00\x01\x02"], pa.binary(3)),
        "ids": pa.array([[1, 2, 3], [], None, [4]]),
        "holes": pa.array([[1, None], [], None, [2]]),
        "words": pa.array([["a", "bc"], [], None, ["é"]]),
        "pair": pa.array([[1.5, 2.5], [3.5, 4.5], None, [5.5, 6.5]], pa.list_(pa.float32(), 2)),
        "matrix": pa.array([[[1, 2], [3, 4]], [], None, [[5, 6]]], pa.list_(pa.list_(pa.int32(), 2))),
        "struct": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": None}, None, {"a": 4, "b": "z"}]),
        "map": pa.array([[("k", 1)], [], None, [("l", 2), ("m", 3)]], pa.map_(pa.string(), pa.int64())),
        "category": pa.array(["red", "blue", None, "red"]).dictionary_encode(),
        "price": pa.array([decimal.Decimal("12.50"), decimal.Decimal("-0.05"), None, decimal.Decimal("0.00")], pa.decimal128(9, 2)),
        "day": pa.array([datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), None, datetime.date(1, 1, 1)]),
        "at": pa.array([when, datetime.datetime(1969, 12, 31, 23, 59, 59), None, when], pa.timestamp("us", tz="UTC")),
        "clock": pa.array([datetime.time(1, 2, 3), datetime.time(23, 59, 59, 250000), None, datetime.time(0)], pa.time64("us")),
    })


def write():
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    table = types()
    pq.write_table(table, DATA / "types.parquet", row_group_size=2, write_page_checksum=True, compression="zstd")
    with pa.ipc.new_file(DATA / "types.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=2)
    with pa.ipc.new_stream(DATA / "types.arrows", table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        file.write_table(table, max_chunksize=2)
    many = pa.table({"n": pa.array(range(1000)), "word": pa.array([f"word {i % 7}" for i in range(1000)]), "line": pa.array([f"line {i}" for i in range(1000)])})
    pq.write_table(many, DATA / "pages.parquet", row_group_size=300, data_page_version="2.0", compression="gzip", use_dictionary=["word"],
                   column_encoding={"n": "DELTA_BINARY_PACKED", "line": "DELTA_BYTE_ARRAY"}, data_page_size=512, write_page_checksum=True)
    splits = {name: datasets.Dataset.from_dict({"text": [f"{name} {i}" for i in range(n)], "ids": [[i, i + 1] for i in range(n)]})
              for name, n in (("train", 5), ("test", 2))}
    datasets.DatasetDict(splits).save_to_disk(DATA / "saved", num_shards={"train": 2, "test": 1})
    for state in DATA.glob("saved/*/state.json"):  # what differs from run to run
        state.write_text(json.dumps({**json.loads(state.read_text()), "_fingerprint": "0" * 16}, indent=2))


def check(strata):
    def convert(*argv):
        subprocess.run([strata, "data", "convert", *map(str, argv)], check=True, stdout=subprocess.DEVNULL)

    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        plain = [c for c in types().column_names if c not in ("category", "price", "day", "at", "clock", "map", "large", "three")]
        read = {"parquet": pq.read_table, "arrow": lambda p: pa.ipc.open_file(p).read_all(), "arrows": lambda p: pa.ipc.open_stream(p).read_all()}
        for source in ("types.parquet", "types.arrow", "types.arrows"):
            for ending, reader in read.items():
                convert(DATA / source, out / f"t.{ending}")
                mine = reader(out / f"t.{ending}")
                for name in plain:
                    want = types().column(name)
                    assert mine.column(name).to_pylist() == want.to_pylist(), (source, ending, name)
                    assert mine.column(name).type == want.type or name in ("matrix", "pair"), (source, ending, name, mine.column(name).type)
        for compression in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
            convert(DATA / "pages.parquet", out / "p.parquet", "--compression", compression)
            assert pq.ParquetFile(out / "p.parquet", page_checksum_verification=True).read().to_pylist() == pq.read_table(DATA / "pages.parquet").to_pylist()
        convert(DATA / "pages.parquet", out / "hf", "--to", "hugging_face", "--shard_bytes", "20000")
        data = datasets.load_from_disk(str(out / "hf"))
        assert data.to_list() == pq.read_table(DATA / "pages.parquet").to_pylist() and len(list((out / "hf").glob("*.arrow"))) > 1
        assert data.features["n"].dtype == "int64" and data.features["line"].dtype == "string"
        convert(DATA / "saved", out / "train.jsonl", "--split", "train")
        assert [json.loads(line) for line in open(out / "train.jsonl")] == datasets.load_from_disk(str(DATA / "saved"))["train"].to_list()
        convert(out / "train.jsonl", out / "again", "--to", "hugging_face")
        again = datasets.load_from_disk(str(out / "again"))
        assert again.to_list() == datasets.load_from_disk(str(DATA / "saved"))["train"].to_list()
        assert again.features == datasets.load_from_disk(str(DATA / "saved"))["train"].features
        hub = out / "hub/data"
        hub.mkdir(parents=True)
        for i in range(2):
            pq.write_table(pa.table({"n": [i]}), hub / f"train-{i:05}-of-00002.parquet")
        pq.write_table(pa.table({"n": [7]}), hub / "unseen-00000-of-00001.parquet")
        convert(out / "hub", out / "hub.jsonl", "--split", "train")
        assert [json.loads(line)["n"] for line in open(out / "hub.jsonl")] == datasets.load_dataset(str(out / "hub"), split="train", cache_dir=str(out / "cache"))["n"][:]
    print("pyarrow and datasets read what Strata writes")


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(pathlib.Path(sys.argv[2]).resolve())
    else:
        write()
