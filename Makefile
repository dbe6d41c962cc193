# The doors of this project. `make run` is the one to try first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.set-up
CATALOGUES := $(wildcard */locale/*/LC_MESSAGES/django.po)

.PHONY: setup setup-tests run demo test check bench robustness messages

setup: $(SETUP)

$(SETUP): requirements.lock pyproject.toml $(CATALOGUES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	for folder in $(sort $(dir $(patsubst %/,%,$(dir $(patsubst %/,%,$(dir $(CATALOGUES))))))); do \
	  $(BIN)/pybabel --quiet compile --domain django --directory $$folder || exit 1; done
	touch $@

setup-tests: setup
	@sh tests/setup.sh

run: setup
	$(BIN)/tht serve --demo

demo: setup
	$(BIN)/tht demo

test: setup-tests
	$(BIN)/python -m tests.everything

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python manage.py check
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python -m tests.translations

bench: setup
	$(BIN)/python -m bench

robustness: setup
	$(BIN)/pytest tests/robustness -q

messages: setup
	for package in evidence publishing search_api portal; do \
	  (cd $$package && ../$(BIN)/django-admin makemessages --locale it --no-wrap --no-obsolete) || exit 1; done
	$(BIN)/python -m tests.translations --sort
