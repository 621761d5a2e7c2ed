"""`python -m app`, the same as the command `ripplescope`."""

import sys

from app.cli import main

sys.exit(main())
