#!/bin/sh
# Runs the client of one scenario, with a time limit. The suite starts the clients of all scenarios together; of those
# at most two run at once, and the time spent waiting does not count.
flock "$CONFORMANCE_FOLDER/turn-$(($$ % 2))" timeout "$CONFORMANCE_CLIENT_SECONDS" "$@"
code=$?
[ $code -ne 124 ] || echo "$MCP_CONFORMANCE_SCENARIO" >>"$CONFORMANCE_FOLDER/timed-out"
exit $code
