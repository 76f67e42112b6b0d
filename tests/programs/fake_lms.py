"""LM Studio's command for the tests: does what ``lms dev --install`` is documented to do.

It looks upwards from where it stands for a manifest, and installs that folder in LM Studio's folder
under the owner and name that it says. What it was asked is appended to the file that LMS_ASKED
names; with LMS_DOWN it behaves as where LM Studio does not answer.
"""

import json
import os
import shutil
import sys
from pathlib import Path

folder = Path.cwd()
with Path(os.environ["LMS_ASKED"]).open("a", encoding="utf-8") as asked:
    asked.write(json.dumps({"arguments": sys.argv[1:], "folder": str(folder)}) + "\n")
if sys.argv[1:] != ["dev", "--install", "--yes"]:
    sys.exit(f"error: unknown command {sys.argv[1:]}")
if os.environ.get("LMS_DOWN"):
    sys.exit("Error: Unable to connect to LM Studio.")
project = next(each for each in (folder, *folder.parents) if (each / "manifest.json").is_file())
manifest = json.loads((project / "manifest.json").read_text(encoding="utf-8"))
assert manifest["type"] == "plugin", manifest
target = Path(os.environ["LMS_HOME"], "extensions", "plugins", manifest["owner"], manifest["name"])
sys.stdout.write(f"Installing the plugin {manifest['owner']}/{manifest['name']}...\n")
shutil.rmtree(target, ignore_errors=True)
shutil.copytree(project, target)
(target / "node_modules").mkdir()
sys.stdout.write(f"Successfully installed {manifest['owner']}/{manifest['name']}.\n")
