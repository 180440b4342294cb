"""Texts in many scripts and texts that tokenizers get wrong, the same each time."""
import random

PLAIN = [
    "", " ", "  ", "\n", "\r\n", "\t", "a", "A", "Hello, world!", "The capital of France is", " 2024 tests\n\n  x", "naïve café — 東京 🙂", "don't DON'T we'll WE'LL 'S 'ſ it's",
    "a\tb   c", "  leading and trailing  ", "x" * 70, "1234567890 12 345 6 ½ ² ٣٤٥ Ⅻ", "e\u0301 é ﬁ ﬀ Å Å ǅ ß İ ı ς Σ", "def f(x):\n    return x ** 2  # square\n",
    "https://example.org/a?b=c&d=%20#e", "if(a!=b){c+=1;}//\n/*x*/", "中文字符和日本語のテキスト、한국어도", "العربية עברית हिन्दी ไทย ქართული", "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ☺️ ©®™", "\u200b\u200c\u200d\ufeff\u00ad",
    "\u00a0\u3000\u2003 \u2028\u2029\u0085x", "\x00\x01\x1b\x7f\x80", "\ufffd \ufffe \U0010ffff \U000e0001", "ａｂｃ １２３ ｶﾀｶﾅ", "½¼¾ ㎏ ℌ ﷺ", "Zażółć gęślą jaźń ŁÓDŹ", "Ελληνικά ΆΈΉ Русский ЁЖЗ Ўў",
    "<s> </s> <unk> <0x41> [CLS] [SEP] ##ing ▁▁ Ġ Ċ", "<|sp|>", "a<|sp|>b", " <|sp|> <|sp|> ", "<|sp|><|sp|>x", "x [LS] y [RS] z", "[LS][RS]", "   [LS]   [RS]   ", "Word", "aWord Wordb Word, Word.Word _Word",
    "Norm norm NORM xNormx", "[LS]Word[RS]Norm<|sp|>", "<|sp", "|sp|>", "<|SP|>", "camelCaseHTTPServerXMLHttpRequest", "ALLCAPS lower Mixed123abc", "...!!!???", "a.b.c,d;e:f", "((((([[[[[{{{{{", "\n\n\n   \n  x\n \n",
    "word \n word\n word  \n", "tab\t\ttab \t x", "quote \"double\" 'single' `back`", "a_b-c+d=e*f/g", "ﾞﾟ\u3099\u309a が か\u3099", "𝕳𝖊𝖑𝖑𝖔 𝟙𝟚𝟛", "ⓗⓔⓛⓛⓞ ①②③", "क्षत्रिय ক্ষ க்ஷ", "ជំរាបសួរ မြန်မာ བོད", "I'm you're he'd they've I'll",
    "U.S.A. e.g. i.e.", "3.14159e-10 0xDEADBEEF 1,000,000", "ÀÉÎÕÜ àéîõü", "\u0301\u0301a\u0301", "\u0e33\u0eb3", "あ" * 20, "🙂" * 9, "\u1e9b\u0323 \u212b \u2126", "\u1100\u1161\u11a8 각", "ſ K Å", "a\u0300\u0316 a\u0316\u0300", "ŉ ǰ ΐ",
    "do not , ' x ' n't 's 've 're .", "one  two   three    four", "ǆǅǄ ŒœÆæ ʼn", "\U0001d15e \U0002f800 \U00011938", "\u32ff \ua7f2 \U0001fbf0", "0️⃣ #️⃣", "x\u0338= \u226f", "٪؟،؛", "。、「」『』・ー", "\u0345\u03b9 ᾳ ᾼ",
]
ALPHABETS = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", " \t\n\r  ", ".,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+`~", "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿß", "абвгдежзиклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρσςτυφχψω",
             "的一是不了人我在有他这中大来上国", "あいうえおかきくけこアイウエオカキクケコ", "가나다라마바사아자차카타파하", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "אבגדהוזחטיכלמנסעפצקרשת", "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसह\u093e\u093f\u0940\u094d", "ก ข ค ง จ ฉ ช",
             "\u0300\u0301\u0302\u0303\u0308\u0323\u200d\ufe0f", "🙂😀👍🎉❤🚀🌍", "½¼²³①②Ⅻ㎏ﬁﬂ"]


def some(count, seed, points=0x30000):
    """Random texts: of one or several alphabets, of words, of any characters, of contractions and spaces."""
    draw = random.Random(seed)
    words = "the of and to in a is that it was for on are as with they be at one have this from or had by word but what some we can out other were all there when up use your how said an each she".split()
    out = []
    for i in range(count):
        kind = i % 6
        if kind == 0:
            text = "".join(draw.choice(draw.choice(ALPHABETS)) for _ in range(draw.randrange(1, 40)))
        elif kind == 1:
            text = draw.choice(["", " "]) + draw.choice([" ", "  ", "\n", ", "]).join(draw.choice(words) for _ in range(draw.randrange(1, 12)))
        elif kind == 2:
            text = "".join(chr(c) for c in (draw.randrange(points) for _ in range(draw.randrange(1, 16))) if not 0xD800 <= c < 0xE000)
        elif kind == 3:
            text = "".join(draw.choice(["'s", "'LL", "don't", " ", "  ", "\n", " \n", "A", "Ab", "ab", "aB", "1", "12", "1234", ".", "...", "/", "\t", "é", "É", "\u0301", "中", "_", "<|sp|>", "[LS]", "[RS]", "Word", "Norm"]) for _ in range(draw.randrange(1, 18)))
        elif kind == 4:
            letters = draw.choice(ALPHABETS)
            text = " ".join("".join(draw.choice(letters) for _ in range(draw.randrange(1, 9))) for _ in range(draw.randrange(1, 8)))
        else:
            text = "".join(draw.choice(PLAIN) for _ in range(2))[:60]
        out.append(text)
    return out


def book():
    """Lines to train small tokenizers on."""
    draw = random.Random(7)
    lines = []
    for text in PLAIN:
        if text.strip():
            lines += [text.replace("\x00", "")] * 2
    for i in range(1500):
        lines.append(" ".join(some(12, 100 + i)[1:2] * 2 + [draw.choice(["return self.value", "for i in range(10):", "Hello world", "the world", "newer lower", "don't", "2024", "naïve café"])]))
    return lines
