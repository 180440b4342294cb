#!/bin/sh
# `strata data` as a person meets it: what it prints, messages, exit statuses; and training on what it makes.
#
#   strata/cli/data_cli_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../../tests/facts.sh"
STRATA_CACHE_DIR=$folder/cache
export STRATA_CACHE_DIR

mkdir -p book/part code
# Verses of words of random syllables (Marsaglia's generator).
awk 'function draw(n) { x = (x * 69069 + 1) % 4294967296; return int(x / 65536) % n + 1 }
  BEGIN {
    for (i = 0; i < 600; i++) {
      line = "Verse " i " of a little book, wherein"
      for (w = 0; w < 10; w++) line = line " " substr("bcdfglmnprst", draw(12), 1) substr("aeiou", draw(5), 1) substr("nrst", draw(4), 1) substr("aeiou", draw(5), 1)
      print line "."
    }
  }' > book/part/one.txt
i=600
while [ $i -lt 900 ]; do
  printf 'def method_%d(self, value):\n    return self.value_%d + value\n' $i $((i % 13))
  i=$((i + 1))
done > code/a.py
echo '{"text": "a line of a table"}' > table.jsonl
: > empty.txt
printf 'caf\351' > latin.txt

# Runs strata; its exit status in $status, its words in out and err.
# JSON PATH VALUE: whether the object in out has that value there.
holds() { is 0 && python3 -c "import json; o = json.load(open('out')); assert str($1) == '$2', $1" 2>> err; }

blend="book/**/*.txt,3;code/*.py,1"
model="base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=1 max_target_length=16 per_device_batch_size=4 steps=40"

for command in "" describe where train-tokenizer tokenize convert show; do
  strata data $command --help
  fact "help of 'data $command' has an example" prints 0 "Example:"
done
strata data
fact "no subcommand" is 2

strata data describe "train_files=$blend" $model --json
fact "describe counts tokens" holds "o['sources'][1]['train_tokens'] + o['sources'][1]['eval_tokens']" "$(($(wc -c < code/a.py) + 1))"
fact "and shares" holds "[s['share'] for s in o['sources']]" "[0.75, 0.25]"
fact "and epochs of the run" holds "round(o['sources'][0]['epochs'] * o['sources'][0]['windows'])" 120
strata data describe "train_files=$blend" $model --json --step 7
fact "a step reads its batch" holds "[r['source'] for r in o['rows']].count('code')" 1
fact "from where it says" holds "all(o['rows'][i]['text'] in open(o['rows'][i]['file']).read() for i in range(4))" True
cp out before
strata data describe "train_files=$blend" $model --json --step 7
fact "the same each time" cmp -s out before
strata data describe "train_files=$blend" $model --step 7
fact "a person reads a table" prints 0 "step 7 reads"

strata data describe "train_files=$blend" $model --measure 20
fact "the graph has rates and a bottleneck" prints 0 "<- bottleneck"
fact "and a source of windows" grep -q "TextWindows(book, length=16, overlapping)" out
strata data describe "train_files=$blend" $model --measure 5 --picture graph.svg
fact "and is drawn" prints 0 "graph.svg: the graph as a picture"
fact "as an SVG" python3 -c "import xml.dom.minidom as x; assert x.parse('graph.svg').documentElement.tagName == 'svg'"
strata data convert table.jsonl table.array_record
strata data describe table.array_record table.jsonl --measure 2 --picture graph.png
fact "files of data are described" prints 0 "InterleaveIterDataset"
fact "with their formats" grep -q "^table.array_record  array_record *1 " out
fact "as a PNG" python3 -c "assert open('graph.png', 'rb').read(8) == b'\x89PNG\r\n\x1a\n'"
strata data describe table.array_record --json
fact "and their records" holds "o['files'][0]['records']" 1
strata data describe table.array_record --step 3
fact "which have no steps" says 2 "--step 3: files of data have no steps"
strata data describe "train_files=$blend" $model --step 25 --json "train_files_weights=20: 0, 1"
fact "weights change at their step" holds "all(r['source'] == 'code' for r in o['rows'])" True
strata data describe "train_files=$blend" $model "train_files_weights=20: 0"
fact "a weight for each source" says 2 "train_files_weights: step 20 has 1 weights"
strata data describe "train_files=$blend" $model "train_files_weights=0.5"
fact "pieces are of steps" says 2 "train_files_weights: '0.5': there is no ':'"

strata data where "train_files=$blend" $model --step 7 --row 2 --json
fact "where names the bytes of every token" holds "all(open(p['file'], 'rb').read()[p['bytes'][0]:p['bytes'][-1]].decode().startswith(p['text']) and len(p['bytes']) == p['count'] + 1 for r in o['rows'] for p in r['pieces'])" True
strata data where "train_files=$blend" $model --step 7
fact "of all rows" prints 0 "step 7, row 3"
strata data where "train_files=$blend" $model --step 7 --row 4
fact "rows that there are not" says 2 "a step has 4 rows"

strata data describe
fact "no train_files" says 2 "train_files is not set"
strata data describe train_files='absent/*.txt'
fact "a pattern without a match" says 2 "absent/*.txt: no file matches"
strata data describe train_files=empty.txt
fact "an empty text" says 2 "empty.txt: the file is empty"
strata data describe train_files=latin.txt
fact "bytes outside UTF-8" says 2 "latin.txt: not UTF-8: byte 3 of 4, in line 1, is 0xe9"
gzip -k book/part/one.txt
strata data describe train_files=book/part/one.txt.gz
fact "a compressed text is read" prints 0 "tokenizer  byte"
rm book/part/one.txt.gz
python3 -m zipfile -c one.zip book/part/one.txt
strata data describe train_files=one.zip
fact "an archive says what to do" says 2 'one.zip: not a text file but a zip archive: unpack it first, as `unzip one.zip` does'
strata data describe "train_files=book/part/one.txt,0"
fact "weights that sum to zero" says 2 "sum to 0"
strata data describe "train_files=book/part/one.txt,-2;code/a.py"
fact "a weight below zero" says 2 "the weight -2"
strata data describe train_files=table.jsonl $model max_target_length=32
fact "a corpus shorter than a window" says 2 "the text is too short: table has"
strata data describe train_files=table.jsonl train_data_columns=body
fact "a member that is not there" says 2 'table.jsonl:1: no text under "body"'

cp book/part/one.txt 'one, two;three.txt'
printf '%s\n' 'train_files: ["one, two;three.txt", "code/*.py,0.5"]' > names.yml
strata data describe names.yml $model --json
fact "a name with a comma and a semicolon in a list" holds "o['sources'][0]['name']" "one, two;three"
fact "beside one with a weight" holds "[s['weight'] for s in o['sources']]" "[1.0, 0.5]"
strata data describe 'train_files=one\, two\;three.txt,3;code/*.py' $model --json
fact "with backslashes anywhere" holds "o['sources'][0]['name'] + str(o['sources'][0]['weight'])" "one, two;three3.0"
strata train names.yml $model steps=2 base_output_directory=. run_name=named
strata data describe named/config.yml --json
fact "and the run's own configuration says the same" holds "[s['files'] for s in o['sources']]" "[1, 1]"
strata data tokenize 'one, two;three.txt' --output comma.tokens
fact "tokenizes such a file" prints 0 "1 files"
strata data tokenize book/part/one.txt --output one.bin
fact "not under a name of Megatron's" says 2 "strata data convert"
strata data convert table.jsonl table.bin
fact "texts are no tokens, which says what makes some" says 2 "\`strata data tokenize\` makes tokens of texts"
strata data describe train_files=table.jsonl data_order=megatron steps=2
fact "Megatron's order needs its files, and says how to make one" says 2 "table.jsonl is no .bin/.idx; \`strata data tokenize"

strata data train-tokenizer --files "$blend" --vocab_size 600 --output made/t.model
fact "trains a tokenizer" prints 0 "made/t.model: 600 tokens"
cp made/t.model first.model
strata data train-tokenizer --files "$blend" --vocab_size 600 --output made/t.model --json
fact "the same file again" cmp -s made/t.model first.model
strata data train-tokenizer --files table.jsonl --vocab_size 600 --output made/u.model
fact "a text too small for it" says 2 "no tokenizer of 600 tokens can be trained on 17 bytes of text"
fact "nothing is written then" [ ! -e made/u.model ]

tokens="tokenizer_type=sentencepiece tokenizer_path=made/t.model vocab_size=600"
strata data describe "train_files=$blend" $model tokenizer_type=sentencepiece tokenizer_path=made/t.model
fact "a tokenizer larger than the model" says 2 "vocab_size=256: the tokenizer (sentencepiece) has 600 tokens"
strata data describe "train_files=$blend" $model vocab_size=600 tokenizer_type=sentencepiece tokenizer_path=book/part/one.txt
fact "a tokenizer that is none" says 2 "book/part/one.txt: no SentencePiece model"
strata data tokenize --tokenizer_type sentencepiece --tokenizer_path made/t.model --output one.tokens 'book/**/*.txt' --threads 1
fact "tokenizes" prints 0 "one.tokens: "
cp one.tokens first.tokens
strata data tokenize --tokenizer_type sentencepiece --tokenizer_path made/t.model --output one.tokens 'book/**/*.txt' --threads 3
fact "the same bits on more threads" cmp -s one.tokens first.tokens
strata data describe train_files=one.tokens $model
fact "tokens of another tokenizer" says 2 "the run's is byte: set tokenizer_type and tokenizer_path"

strata train train_files=one.tokens $model $tokens base_output_directory=. run_name=of_tokens
fact "trains on tokens" prints 0 "done: step 40 of 40"
strata train 'train_files=book/**/*.txt' $model $tokens base_output_directory=. run_name=of_text
fact "and on the text they were made of" prints 0 "done: step 40 of 40"
fact "to the same bits" cmp -s of_tokens/checkpoints/40/params.safetensors of_text/checkpoints/40/params.safetensors
printf x | dd of=one.tokens bs=1 seek=900 conv=notrunc 2> /dev/null
strata data describe train_files=one.tokens $model $tokens
fact "damaged tokens" says 2 "one.tokens: damaged: the checksum of its tokens differs"
head -c 500 first.tokens > one.tokens
strata data describe train_files=one.tokens $model $tokens
fact "tokens cut short" says 2 "one.tokens: not a whole token file"

python3 - <<'END'
import struct
text = open('book/part/one.txt', 'rb').read().split(b'\n')
docs = [list(t) + [0] for t in text if t]
open('m.bin', 'wb').write(b''.join(struct.pack(f'<{len(d)}H', *d) for d in docs))
places = [2 * sum(map(len, docs[:i])) for i in range(len(docs))]
open('m.idx', 'wb').write(b'MMIDIDX\0\0' + struct.pack('<QBQQ', 1, 8, len(docs), len(docs) + 1) +
    struct.pack(f'<{len(docs)}i', *map(len, docs)) + struct.pack(f'<{len(docs)}q', *places) +
    struct.pack(f'<{len(docs) + 1}q', *range(len(docs) + 1)))
END
strata data where train_files=m.bin $model data_order=megatron data_shuffle_seed=1234 --step 3 --json
fact "Megatron's order names sequences and bytes" holds "all(open('book/part/one.txt', 'rb').read().split(b'\n')[p['record']][p['bytes'][0]:p['bytes'][-1]].decode().startswith(p['text'].rstrip(chr(10))) for r in o['rows'] for p in r['pieces'])" True
strata train train_files=m.bin $model data_order=megatron data_shuffle_seed=1234 base_output_directory=. run_name=megatron
fact "trains in Megatron's order" prints 0 "done: step 40 of 40"
strata train train_files=m.bin $model data_order=megatron window_mode=disjoint base_output_directory=. run_name=no
fact "whose windows overlap" says 2 "window_mode=disjoint needs data_order=native"
strata train train_files=m.bin $model window_mode=disjoint base_output_directory=. run_name=maxtext
fact "the same files in disjoint windows" prints 0 "done: step 40 of 40"
strata train "train_files=$blend" $model base_output_directory=. run_name=disjoint window_mode=disjoint
fact "trains on disjoint windows" prints 0 "done: step 40 of 40"
fact "one target in sixteen is lost" grep -q "total_weights: 60," err
strata generate --checkpoint of_text --prompt "Verse" --max_tokens 20 --json
fact "generates whole characters" is 0

i=0
while [ $i -lt 50 ]; do
  printf '{"n":%d,"text":"row %d"}\n' $i $i
  i=$((i + 1))
done > rows.jsonl
source=rows.jsonl
for target in a.array_record b.tfrecord.gz c.bagz d.tar e.csv f.jsonl.zst; do
  strata data convert $source $target
  fact "$source becomes $target" prints 0 "$target: 50 records from $source"
  case $target in d.tar | e.csv) ;; *) source=$target ;; esac
done
strata data convert f.jsonl.zst back.jsonl
fact "after all of them the same bytes" cmp -s rows.jsonl back.jsonl
strata data show a.array_record --json
fact "show reads it through" holds "[o['records'], o['first'][2]['n']]" "[50, 2]"
strata data show e.csv
fact "a person reads the members" prints 0 "text"
strata data convert rows.jsonl rows_mds --to mds
fact "a folder of shards" prints 0 "rows_mds: 50 records"
strata data convert rows.jsonl rows_mds --to mds
fact "which is not written over" says 2 "rows_mds: there is something of that name already"
printf x | dd of=a.array_record bs=1 seek=150 conv=notrunc 2> /dev/null
strata data show a.array_record
fact "damage is found" says 2 "wrong checksum"
strata data convert a.array_record g.jsonl
fact "and ends a conversion" says 2 "wrong checksum"
fact "of which nothing stays" test ! -e g.jsonl -a ! -e g.jsonl.tmp
strata data convert a.array_record g.jsonl --damaged quarantine
fact "unless damaged records are put aside" prints 0 "g.jsonl: 49 records"
fact "with what is wrong" grep -q "wrong checksum" g.jsonl.quarantine.jsonl
strata data convert rows.jsonl rows.what
fact "a name without a format" says 2 "the name does not say a format; give one of array_record, arrow, bagz, csv"
mkdir folder
strata data show folder
fact "a folder without data says what is missing" says 2 "folder: a folder that holds no data set: no index.json"
strata data show absent
fact "what is not there is not a question of formats" says 2 "absent: there is no such file or folder"
cp rows.jsonl wrong.parquet
strata data show wrong.parquet
fact "a file of another kind" says 2 "wrong.parquet: "
cp rows.jsonl wrong.npy
strata data show wrong.npy
fact "of NumPy's neither" says 2 "wrong.npy: no .npy file"
: > none.jsonl
strata data convert none.jsonl none.npy
fact "no records have no type" says 2 "none.npy: no record: a .npy file needs the type of one"
strata data convert none.jsonl none.array_record
fact "but are a file elsewhere" prints 0 "none.array_record: 0 records"
strata data convert rows.jsonl rows.safetensors
fact "texts are no tensors" says 2 "record 0: safetensors files hold arrays and numbers, not"
strata data convert rows.jsonl s.jsonl --shard_records 20
fact "in shards" prints 0 "s.jsonl: 50 records from rows.jsonl in 3 shards"
cat s-0000[0-2]-of-00003.jsonl > joined
fact "which hold every record once" cmp -s rows.jsonl joined
fact "and no journal stays" [ ! -e s.jsonl.journal ]
strata data convert rows.jsonl t.array_record --shard_records 20 --json
fact "of any format" holds "[o['shards'], o['records'], o['resumed']]" "[3, 50, 0]"
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "{\"n\":%d,\"text\":\"a row of a longer table, number %d\"}\n", i, i }' > long.jsonl
for pause in 0.05 0.2 0.4; do
  timeout -s KILL $pause "$bin/strata" data convert long.jsonl k.jsonl --shard_records 7000 > out 2> err
done
[ -e k.jsonl.journal ] && {
  strata data convert long.jsonl k.jsonl --shard_records 7001
  fact "another size of shards does not go on" says 2 "k.jsonl.journal is of another conversion"
}
strata data convert long.jsonl k.jsonl --shard_records 7000
fact "killed three times, the same command goes on" prints 0 "k.jsonl: 200000 records from long.jsonl in 29 shards"
cat k-000*-of-00029.jsonl > joined
fact "and every record is there once" cmp -s long.jsonl joined
rm -f long.jsonl k-*.jsonl joined
strata train train_files=f.jsonl.zst $model base_output_directory=. run_name=packed
fact "trains on compressed JSONL" prints 0 "done: step 40 of 40"

told
