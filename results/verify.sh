#!/bin/sh
# Verify every submission in this folder; if all are verified and SITE is given, write the
# leaderboard there.    sh results/verify.sh [SITE]
# CAREEVAL is the command, careeval if it is not set. Status 3: a submission is refused.
set -eu
site=
if [ -n "${1:-}" ]; then
  mkdir -p "$1"
  site=$(cd "$1" && pwd)
fi
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

refuse() {
  printf '%s: REFUSED: %s\n' "$1" "$2"
  status=3
}

for folder in ./*/; do
  [ -d "$folder" ] || continue
  name=$(basename "$folder")
  case $name in *[!A-Za-z0-9._-]* | -*) refuse "a folder" "its name has other characters than A-Z a-z 0-9 . _ -"; continue ;; esac
  archive=$work/$name.zip
  if [ -f "$folder/submission.address" ]; then
    hash=$(cut -d ' ' -f 1 "$folder/submission.address")
    address=$(cut -d ' ' -f 2- "$folder/submission.address")
    if ! curl --fail --silent --show-error --location --proto '=https' --proto-redir '=https' \
      --max-time 600 --max-filesize 4000000000 --output "$archive" -- "$address"; then
      refuse "$name" "its address does not give it"
      rm -f "$archive"
    elif ! printf '%s  %s\n' "$hash" "$archive" | sha256sum --check --status; then
      refuse "$name" "its hash is another one"
      rm -f "$archive"
    fi
  elif [ ! -f "$folder/submission.zip" ] || [ -h "$folder/submission.zip" ]; then
    refuse "$name" "there is no file submission.zip"
  elif [ "$(wc -c <"$folder/submission.zip")" -gt 10000000 ]; then
    refuse "$name" "it has over 10 MB: list it by hash and address"
  else
    cp "$folder/submission.zip" "$archive"
  fi
done

cd "$work"
set -- ./*.zip
if [ ! -e "$1" ]; then
  echo "There is no submission to verify."
  exit "$status"
fi
${CAREEVAL:-careeval} verify "$@" || status=3
if [ -n "$site" ] && [ "$status" = 0 ]; then
  ${CAREEVAL:-careeval} site "$@" -o "$site" --title "Submitted results"
fi
exit "$status"
