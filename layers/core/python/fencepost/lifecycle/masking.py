"""Personal data in texts, hidden by Powertools' data masking."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, override

from fencepost.lifecycle.domain.personal_data import MASK, PERSONAL_DATA
from fencepost.lifecycle.ports import Masker

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_masking import DataMasking


class PowertoolsMasker(Masker):
    """Implements `fencepost.lifecycle.ports.Masker`."""

    @override
    def mask(self, texts: Sequence[str]) -> tuple[str, ...]:
        if not texts:
            # The library takes a path that leads nowhere for a mistake.
            return ()
        masked = self._masking.erase(
            {"texts": list(texts)},
            fields=["texts[*]"],
            regex_pattern=PERSONAL_DATA,
            mask_format=MASK,
        )
        return tuple(masked["texts"])

    @cached_property
    def _masking(self) -> DataMasking:
        """Make it at the first use: its parser of paths is imported with it."""
        from aws_lambda_powertools.utilities.data_masking import DataMasking

        return DataMasking()
