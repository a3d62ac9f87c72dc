"""Set everything up and ask the documentation that ships with the project a question.

python3 scripts/try.py ["your question"] [options of 'fingerpost ask']
"""

from __future__ import annotations

import sys

import environment

QUESTION = "How do I search only some of my documents?"

if __name__ == "__main__":
    given = sys.argv[1:]
    question, options = (given[0], given[1:]) if given else (QUESTION, [])
    print(f'$ fingerpost ask docs "{question}"\n', file=sys.stderr, flush=True)
    sys.exit(environment.run("-m", "fingerpost", "ask", "docs", question, *options))
