"""Builds weights/ of this package from the wordllama wheel.

    pip download --no-deps wordllama==0.4.0.post1
    python3 make-weights.py wordllama-*.whl [dimensions]

Keeps only the first dimensions (the weights were trained so that those carry the most), quantised to 8-bit integers with one factor per
token. Needs only the Python standard library.
"""

import json
import struct
import sys
import zipfile
from array import array
from pathlib import Path

wheel = zipfile.ZipFile(sys.argv[1])
kept = int(sys.argv[2]) if len(sys.argv) > 2 else 128
out = Path(sys.argv[3]) if len(sys.argv) > 3 else Path(__file__).parent / "weights"


def one(ending):
    (name,) = [name for name in wheel.namelist() if name.endswith(ending)]
    return wheel.read(name)


vocabulary = json.loads(one("l2_supercat_tokenizer_config.json"))["model"]["vocab"]
tokens = sorted(vocabulary, key=vocabulary.get)
assert [vocabulary[token] for token in tokens] == list(range(len(tokens)))

tensor = one("l2_supercat_256.safetensors")
(header_bytes,) = struct.unpack("<Q", tensor[:8])
described = json.loads(tensor[8 : 8 + header_bytes])["embedding.weight"]
rows, dimensions = described["shape"]
assert described["dtype"] == "F16" and rows == len(tokens) and kept <= dimensions
start = 8 + header_bytes + described["data_offsets"][0]

factors = array("f")
numbers = array("b")
for row in range(rows):
    vector = struct.unpack_from(f"<{kept}e", tensor, start + row * dimensions * 2)
    factor = max(abs(value) for value in vector) / 127 or 1.0
    factors.append(factor)
    numbers.extend(round(value / factor) for value in vector)
if sys.byteorder == "big":
    factors.byteswap()

out.mkdir(exist_ok=True)
(out / "tokens.json").write_text(json.dumps(tokens, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
(out / "vectors.bin").write_bytes(factors.tobytes() + numbers.tobytes())
(out / "LICENSE.wordllama").write_bytes(one("/LICENSE"))
