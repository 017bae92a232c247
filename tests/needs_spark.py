"""Imported where a class of Spark's is the base of what is tested: without pyspark the module skips."""

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
