#!/usr/bin/env bash
# Run the official MCP conformance suite against the product, without a baseline.
# Tools are installed from the package registry into the ignored folder .tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools="$PWD/.tools"
suite="0.2.0-alpha.12"
if [ ! -x "$tools/node_modules/.bin/conformance" ] || [ ! -x "$tools/node_modules/.bin/node" ]; then
  npm install --silent --no-audit --no-fund --prefix "$tools" node@22 "@modelcontextprotocol/conformance@$suite"
fi
export PATH="$tools/node_modules/.bin:$PATH"
port="${PORT:-3462}"
.venv/bin/python -m tests.mcp_conformance.serve "$port" &
server=$!
results="$(mktemp -d)"
trap 'kill "$server" 2>/dev/null; rm -rf "$results"' EXIT
for _ in $(seq 100); do
  if curl -fsS "http://127.0.0.1:$port/healthz" >/dev/null 2>&1; then break; fi
  sleep 0.2
done
cd "$results"
for release in 2026-07-28 2025-11-25; do
  if conformance server --url "http://127.0.0.1:$port/mcp" --requirements "$release" >"$release.log" 2>&1; then
    echo "conformance $release: all required scenarios pass ($(grep -c '^✓' "$release.log") scenarios)"
  else
    sed -n '/=== SUMMARY ===/,$p' "$release.log"
    exit 1
  fi
done
