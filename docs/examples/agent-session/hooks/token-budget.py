#!/usr/bin/env python3
# Ends the session when one model call used more tokens than TOKEN_BUDGET (0 or unset: no limit). For
# AfterModel. Answers continue false with the stopReason, or nothing.
import json
import os
import sys

try:
    data = json.loads(sys.stdin.buffer.read() or b"{}")
    budget = int(os.environ.get("TOKEN_BUDGET") or 0)
except (ValueError, RecursionError) as error:
    sys.exit(f"token-budget: {error}")

used = data
for key in ("llm_response", "usageMetadata", "totalTokenCount"):
    used = used.get(key) if isinstance(used, dict) else None

if budget > 0 and isinstance(used, (int, float)) and used > budget:
    print(json.dumps({
        "continue": False,
        "stopReason": f"token-budget: the last call used {used} tokens, the budget is {budget}",
    }))
