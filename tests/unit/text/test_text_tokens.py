"""The estimate of tokens against the real tokenizer."""

import base64
import random

import pytest

from fingerpost.lanes.providers import load_embedder
from fingerpost.text import estimate_tokens

tokenizers = pytest.importorskip("tokenizers", reason="needs the extra `local`")
data = pytest.importorskip("fingerpost_minilm", reason="needs the data distribution")

TEXTS = {
    "prose": "The router keeps the index in a folder beside the documents, and opens it at once. "
    "When a file of the corpus has changed, only the chunks of this file are embedded again.",
    "code": "def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:\n"
    "    return np.vstack([self._embed_one(text) for text in texts])\n",
    "table": "| setting | default | meaning |\n|---|---|---|\n| `top_k` | 8 | hits kept |\n",
    "url": "See https://example.org/docs/v2.10/reference/index.html?highlight=top_k#settings.",
    "numbers": "1234567890 0x80070005 3.14159 2026-11-29T23:59:59Z 550e8400-e29b-41d4-a716",
    "german": "Die Größe des Zwischenspeichers lässt sich über die Konfigurationsdatei einstellen.",
    "spanish": "El tamaño de la memoria caché se puede cambiar en el archivo de configuración.",
    "russian": "Размер кэша можно изменить в файле конфигурации перед запуском программы.",
    "chinese": "缓存的大小可以在配置文件中更改，更改后需要重新启动程序。",
    "japanese": "キャッシュのサイズは設定ファイルで変更できます。",
    "korean": "캐시의 크기는 설정 파일에서 변경할 수 있습니다.",
    "arabic": "يمكن تغيير حجم ذاكرة التخزين المؤقت في ملف التكوين.",
    "hindi": "कैश का आकार कॉन्फ़िगरेशन फ़ाइल में बदला जा सकता है।",
}


@pytest.fixture(scope="module")
def tokenizer():
    loaded = tokenizers.Tokenizer.from_file(str(data.paths().tokenizer))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


@pytest.mark.parametrize("kind", TEXTS)
def test_the_estimate_is_near_the_count_and_seldom_below(kind, tokenizer):
    text = TEXTS[kind] * 4
    true = len(tokenizer.encode(text, add_special_tokens=False))
    assert 0.9 * true <= estimate_tokens(text) <= 1.6 * true


def test_nothing_has_no_tokens():
    assert estimate_tokens("") == 0
    assert estimate_tokens(" \n\t ") == 0


def test_any_character_is_accepted():
    assert estimate_tokens("\ud800\x00\U000e0001") >= 1


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(random.Random(1).randbytes(900)).decode(),
        " ".join(random.Random(n).randbytes(20).hex() for n in range(30)),
        "https://a.example/"
        + "/".join(f"{random.Random(n).getrandbits(200):x}" for n in range(20)),
    ],
)
def test_keys_and_digests_are_not_counted_too_low(text):
    """Field note 5: letters and digits in no order share few pieces."""
    model = load_embedder("minilm")
    assert model.count_tokens(text) <= estimate_tokens(text)
