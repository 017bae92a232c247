# Everything works without make: the scripts are what it calls.
.PHONY: setup docs demo test check golden bench bench-procedures bench-activation bench-compile bench-startup bench-transport clean

setup:          ## .venv with pgsb and what its tests need
	sh scripts/setup dev

demo: setup     ## a Service Broker script on a private PostgreSQL
	sh scripts/demo

test:           ## style, types, and the tests on every PostgreSQL that can be had
	sh scripts/test

check: setup    ## style and types only
	.venv/bin/ruff check .
	.venv/bin/mypy

golden: setup   ## rewrite the expectations of the compiler's and the examples' cases; read the diff
	.venv/bin/python scripts/derive_conversions.py
	PGSB_GOLDEN=rewrite .venv/bin/python -m pytest -q tests/grammar tests/compiler tests/sql tests/end_to_end

bench-compile: setup    ## lines per second of check and compile, beside sqlglot on the same text
	.venv/bin/python benchmarks/compile.py

bench-startup: setup    ## processor time of short commands, beside the interpreter's own
	.venv/bin/python -m benchmarks.startup

bench-activation: setup ## latency, scale-up and idle cost of the activation daemon
	.venv/bin/python benchmarks/activation.py

bench: setup            ## our queue beside its peers, ratios in one run
	.venv/bin/python -m benchmarks.queues

bench-procedures: setup ## compiled T-SQL beside the same loop written by hand in PL/pgSQL
	.venv/bin/python -m benchmarks.procedures

bench-transport: setup  ## messages carried to another instance, beside the lower bound made by hand
	.venv/bin/python -m benchmarks.transport

docs: setup            ## the documentation as a site, in build/site
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	.venv/bin/mkdocs build --strict

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
