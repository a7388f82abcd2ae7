#!/bin/sh
# line-count: an external tool in plain shell. Counts the lines of the files named on its command line, relative to the
# project root; of all files of the project when none is named. What it does not understand it refuses with exit code 2.
set -eu

NAME=line-count
VERSION=1.0.0

refuse() {
  printf '%s: %s\n' "$NAME" "$1" >&2
  exit 2
}

case ${1-} in
--capabilities)
  printf '{"name":"%s","version":"%s","protocol_version":1,' "$NAME" "$VERSION"
  printf '"description":"Count the lines of files","requires_pack":false,"network":false}\n'
  exit 0
  ;;
--version)
  printf '%s\n' "$VERSION"
  exit 0
  ;;
esac

[ "${TOOL_PROTOCOL_VERSION-}" = 1 ] || refuse 'TOOL_PROTOCOL_VERSION must be 1'
[ -n "${TOOL_RUN_ID-}" ] || refuse 'TOOL_RUN_ID is not set'
[ -n "${TOOL_STARTED_AT-}" ] || refuse 'TOOL_STARTED_AT is not set'
[ -d "${TOOL_RUN_DIR-}" ] || refuse 'TOOL_RUN_DIR is not a folder'
[ -d "${TOOL_PROJECT_ROOT-}" ] || refuse 'TOOL_PROJECT_ROOT is not a folder'
case ${TOOL_INPUTS-} in '' | '{}') ;; *) refuse 'takes no inputs; name the files as arguments' ;; esac
[ -z "${TOOL_CONFIG-}" ] || refuse 'takes no configuration'

began=$(date +%s)
mkdir "$TOOL_RUN_DIR/outputs" 2>/dev/null || refuse 'TOOL_RUN_DIR cannot be written'
report=$TOOL_RUN_DIR/outputs/report.txt
cd "$TOOL_PROJECT_ROOT"

for file in "$@"; do
  case $file in -* | /* | *..*) refuse "not a file of the project: $file" ;; esac
  [ -f "$file" ] || refuse "not a file of the project: $file"
done
if [ $# -gt 0 ]; then
  for file in "$@"; do wc -l <"$file" | { read -r lines && printf '%s %s\n' "$lines" "$file"; }; done >"$report"
else
  find . -type f -exec sh -c 'for file; do printf "%s %s\n" "$(($(wc -l <"$file")))" "${file#./}"; done' sh {} + |
    sort -k 2 >"$report"
fi

bytes=$(($(wc -c <"$report")))
digest=$(sha256sum "$report" | cut -d ' ' -f 1)
draft=$TOOL_RUN_DIR/outputs/.result.json
{
  printf '{\n  "schema_version": 1,\n'
  printf '  "wrapper": { "name": "tool-runtime", "version": "%s" },\n' "${TOOL_WRAPPER_VERSION-unknown}"
  printf '  "tool": { "name": "%s", "version": "%s", "protocol_version": 1 },\n' "$NAME" "$VERSION"
  printf '  "run_id": "%s",\n' "$TOOL_RUN_ID"
  printf '  "started_at": "%s",\n' "$TOOL_STARTED_AT"
  printf '  "completed_at": "%s",\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  printf '  "duration_ms": %s,\n' "$((($(date +%s) - began) * 1000))"
  printf '  "exit_code": 0,\n  "tool_exit_code": 0,\n  "status": "success",\n  "inputs": {},\n'
  printf '  "outputs": [\n    { "path": "outputs/report.txt", "media_type": "text/plain", '
  printf '"digest": "sha256:%s", "bytes": %s }\n  ],\n' "$digest" "$bytes"
  printf '  "errors": [],\n  "warnings": []\n}\n'
} >"$draft"
# In one step, so that nobody ever reads half a result.
mv "$draft" "$TOOL_RUN_DIR/result.json"
