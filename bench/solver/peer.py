"""Answers SMT-LIB 2 files with another solver: peer.py z3|bitwuzla SECONDS, with a path on each line of standard input.

Prints a line for each file: the CPU seconds and the answer. The interpreter's start and the import are not counted.
"""

import sys
import time

name, seconds = sys.argv[1], int(sys.argv[2])

if name == "z3":
    import z3

    def answer(path):
        # With a status, Z3 reports an answer that differs as an error.
        text = "".join(line for line in open(path) if not line.startswith("(set-info"))
        context = z3.Context()
        return z3.Z3_eval_smtlib2_string(context.ref(), f"(set-option :timeout {seconds * 1000})\n{text}")

else:
    import bitwuzla

    def answer(path):
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.TIME_LIMIT_PER, seconds * 1000)
        parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
        parser.parse(path, True)
        return parser.bitwuzla().check_sat().name.lower()


for line in sys.stdin:
    start = time.process_time()
    try:
        text = " ".join(answer(line.strip()).split())
    except Exception as error:
        text = f"error: {error}"
    print(f"{time.process_time() - start:.6f} {text}", flush=True)
