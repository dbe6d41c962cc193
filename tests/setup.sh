#!/bin/sh
# What the tests need beside Python packages. Without root it says what is missing and goes on:
# the tests that need it are skipped by name.
set -eu
missing=""
for pair in chromium:chromium msgfmt:gettext; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing$missing"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
else
  echo "Not installed (needs root):$missing. Tests that need it are skipped."
fi
