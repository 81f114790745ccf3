"""The language that a text's script implies."""

from __future__ import annotations

import pytest

from fencepost.kernel.text import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("はじめにお読みください。設定は簡単です。", "ja"),
        ("設定ファイル config.yaml を編集します。", "ja"),
        ("这是一个使用说明，请先阅读。", "zh"),
        ("설정 파일을 편집합니다.", "ko"),
        ("ยินดีต้อนรับ", "th"),
        ("The word 柵 means fence in Japanese, and nothing else of this text is.", ""),
        ("Bonjour, ceci est un guide.", ""),
        ("1234 … !", ""),
        ("", ""),
    ],
)
def test_a_language_is_told_by_its_script_alone(text: str, language: str) -> None:
    assert language_of(text) == language
