# Runs a client of the conformance suite and notes how it ended: the suite itself does not look.
# Usage: sh record.sh CLIENT URL
"$1" "$2"
code=$?
printf '%s\t%s\n' "$MCP_CONFORMANCE_SCENARIO" "$code" >>"$SWITCHBOARD_EXITS"
exit $code
