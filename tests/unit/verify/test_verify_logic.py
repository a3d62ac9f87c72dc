"""Negation in further languages, what *only* and *except* leave out, and what changed places."""

import pytest

from fingerpost.types import Verdict
from fingerpost.verify import CitationVerifier


def verdict(claim, source):
    return CitationVerifier().verify_sync([claim], [source]).claims[0].verdict


@pytest.mark.parametrize(
    ("affirmed", "denied"),
    [
        ("الخادم يعيد المحاولة.", "الخادم لا يعيد المحاولة."),
        ("सर्वर अनुरोध दोहराता है।", "सर्वर अनुरोध नहीं दोहराता है।"),
        ("Máy chủ thử lại yêu cầu.", "Máy chủ không thử lại yêu cầu."),
        ("Ο διακομιστής επαναλαμβάνει τα αιτήματα.", "Ο διακομιστής δεν επαναλαμβάνει τα αιτήματα."),
        ("Serverul reîncearcă cererile.", "Serverul nu reîncearcă cererile."),
        ("השרת מנסה שוב.", "השרת לא מנסה שוב."),
        ("Сервер повторяет запросы.", "Сервер не повторяет запросы."),
        ("服务器会重试请求。", "服务器不会重试请求。"),
        ("サーバーは再試行する。", "サーバーは再試行しない。"),
        ("เซิร์ฟเวอร์ลองใหม่", "เซิร์ฟเวอร์ไม่ลองใหม่"),
        ("Serveren prøver igjen.", "Serveren prøver ikke igjen."),
        ("Server mencoba permintaan lagi.", "Server tidak mencoba permintaan lagi."),
        ("The test passed and the build failed.", "The test passed and the build did not fail."),
    ],
)  # fmt: skip
def test_a_negation_on_one_side_is_a_contradiction_in_every_language_of_the_data(affirmed, denied):
    assert verdict(affirmed, denied) is Verdict.CONTRADICTED
    assert verdict(denied, affirmed) is Verdict.CONTRADICTED
    assert verdict(denied, denied) is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It is possible to undo a delete.", "It is not impossible to undo a delete."),
        ("The server never fails to retry.", "The server always retries."),
        ("Run migrate before deploy.", "Run deploy after migrate."),
        ("After the build, run the tests.", "Run the build before the tests."),
        ("Keys are rotated every 30 days, not every 60 days.", "Keys are rotated every 30 days."),
        ("De server herhaalt nu verzoeken.", "De server herhaalt verzoeken."),
        ("Only one statue has visible legs.", "Except for one, the statues have no visible legs."),
        ("Guests may read keys.", "Guests may only read keys."),
        ("It is valued at over a billion dollars.", "It is valued at over 100 billion dollars."),
    ],
)
def test_what_can_be_true_with_its_source_is_not_contradicted(claim, source):
    assert verdict(claim, source) is not Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The build did not fail.", "The build failed."),
        ("The Free plan includes support.", "All plans except Free include support."),
        ("Run migrate before deploy.", "Run deploy before migrate."),
        ("Convert JSON to YAML.", "Convert YAML to JSON."),
        ("It copies files from S3 to Azure.", "It copies files from Azure to S3."),
        ("The contact is alice@example.com.", "The contact is bob@example.com."),
        ("The limit is not 30 days.", "The limit is 30 days."),
        ("Uploads cannot exceed 5 MB.", "Uploads cannot exceed 10 MB."),
    ],
)
def test_what_cannot_be_true_with_its_source_is_contradicted(claim, source):
    assert verdict(claim, source) is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Only admins can delete keys.", "Admins can delete keys."),
        ("Only admins can delete keys.", "Admins and owners can delete keys."),
        ("Admins can delete keys.", "Only owners can delete keys."),
        (
            "Nur Administratoren dürfen Schlüssel löschen.",
            "Alle Benutzer dürfen Schlüssel löschen.",
        ),
        ("All plans include support.", "All plans except Free include support."),
        ("Every request must be signed.", "Some requests must be signed."),
        ("Toutes les requêtes sont journalisées.", "Certaines requêtes sont journalisées."),
    ],
)
def test_a_claim_of_more_than_the_source_says_is_not_supported(claim, source):
    assert verdict(claim, source) is not Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Only admins can delete keys.", "Keys can be deleted only by admins."),
        ("The cache has only 5 entries.", "The cache has 5 entries."),
        ("Convert JSON to YAML.", "Convert JSON to YAML with one command."),
        ("The contact is bob@example.com.", "Write to the contact, which is bob@example.com."),
        ("All plans except Free include support.", "All plans except Free include support."),
    ],
)
def test_what_the_source_says_in_its_own_words_is_supported(claim, source):
    assert verdict(claim, source) is Verdict.SUPPORTED
