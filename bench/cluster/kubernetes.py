#!/usr/bin/env -S build/cluster-venv/bin/python
"""Write a manifest for Kubernetes: an indexed Job for exact cells, one for timed cells, and the list of both.

    build/bin/triptych run --list-cells --config bench/matrix.toml |
        bench/cluster/kubernetes.py --image registry/triptych --claim results --id 2026-11 -- --config bench/matrix.toml

The image is the Containerfile's, and all nodes can write to the volume claim. The manifest is checked against the
schema of Kubernetes before it is printed.
"""

import argparse
import json
import shlex
import sys
from typing import Any

import kubernetes_validate
import yaml

VERSION = "1.33"
JOBS = "/jobs"
# The name of the line's job; a killed pod leaves no part of a cell, and what is measured is skipped.
SCRIPT = f"""set -euo pipefail
cd /triptych
job="$(sed -n "$((JOB_COMPLETION_INDEX + 1))p" {JOBS}/$KIND)"
exec build/bin/triptych run {{options}} --cell "$job" --id {{run}} --results /results
"""


def pod(arguments: argparse.Namespace, kind: str) -> dict[str, Any]:
    """One job of the matrix. A timed one shares its node with no other."""
    resources = {"cpu": "2", "memory": "2Gi"}
    if arguments.huge_pages:
        resources["hugepages-2Mi"] = f"{2 * arguments.huge_pages}Mi"
    script = SCRIPT.format(options=shlex.join(arguments.options), run=shlex.quote(arguments.id))
    environment: list[dict[str, Any]] = [
        {"name": "KIND", "value": kind},
        # A container has no machine id of its own.
        {"name": "TRIPTYCH_MACHINE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    container = {
        **{"name": "triptych", "image": arguments.image, "command": ["bash", "-c", script], "env": environment},
        **{"resources": {"requests": resources, "limits": resources}},
        # `trace` switches random addresses off, which the default profile forbids.
        **{"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
        "volumeMounts": [{"name": "results", "mountPath": "/results"}, {"name": "jobs", "mountPath": JOBS}],
    }
    volumes = [
        {"name": "results", "persistentVolumeClaim": {"claimName": arguments.claim}},
        {"name": "jobs", "configMap": {"name": f"triptych-{arguments.id}"}},
    ]
    spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [container], "volumes": volumes}
    if kind == "timed":
        alone = {"labelSelector": {"matchLabels": {"app": "triptych"}}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alone]}}
    if arguments.node_selector:
        spec["nodeSelector"] = dict(pair.split("=", 1) for pair in arguments.node_selector)
    return {"metadata": {"labels": {"app": "triptych"}}, "spec": spec}


def manifest(arguments: argparse.Namespace, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents of the manifest, each checked against its schema."""
    named = {
        kind: [job["job"] for job in jobs if job["exact"] == (kind == "exact") and not job["features"]]
        for kind in ("exact", "timed")
    }
    data = {kind: "".join(f"{name}\n" for name in names) for kind, names in named.items()}
    metadata = {"name": f"triptych-{arguments.id}"}
    documents: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data},
    ]
    for kind, names in named.items():
        if names:
            spec = {
                **{"completionMode": "Indexed", "completions": len(names), "template": pod(arguments, kind)},
                # A node that fails ends a pod, and the job of that index runs again, at most twice.
                **{"parallelism": min(arguments.parallel, len(names)), "backoffLimitPerIndex": 2},
                **{"podReplacementPolicy": "Failed", "activeDeadlineSeconds": 7 * 86400},
            }
            metadata = {"name": f"triptych-{arguments.id}-{kind}"}
            documents.append({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    for document in documents:
        kubernetes_validate.validate(document, VERSION, strict=True)
    return documents


def check() -> None:
    """That the schema accepts a manifest, and refuses one with a mistake."""
    job = {"job": "trace-c-default-b32-r512-f60", "exact": True, "features": []}
    values = {"image": "triptych", "claim": "results", "id": "a", "options": [], "huge_pages": 64, "parallel": 4}
    arguments = argparse.Namespace(**values, node_selector=["kind=box"])
    documents = manifest(arguments, [job, {**job, "exact": False}])
    assert [document["kind"] for document in documents] == ["ConfigMap", "Job", "Job"]
    documents[1]["spec"]["completions"] = "many"
    try:
        kubernetes_validate.validate(documents[1], VERSION, strict=True)
    except kubernetes_validate.ValidationError:
        return
    sys.exit("kubernetes.py: the schema accepts a wrong manifest")


def main() -> None:
    """Read the jobs, and print the manifest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", help="the image of the Containerfile")
    parser.add_argument("--claim", help="the volume claim that receives results/")
    parser.add_argument("--id", help="the run, in small letters and digits")
    parser.add_argument("--parallel", type=int, default=100, help="pods at once, at most [100]")
    parser.add_argument("--huge-pages", type=int, default=0, help="pages of 2 MiB for each pod [0]")
    parser.add_argument("--node-selector", action="append", metavar="LABEL=VALUE", help="nodes that may run pods")
    parser.add_argument("--check", action="store_true", help="test the schema, and print nothing")
    parser.add_argument("options", nargs="*", help="the options of the matrix, behind --")
    arguments = parser.parse_args()
    if arguments.check:
        return check()
    if not (arguments.image and arguments.claim and arguments.id):
        parser.error("--image, --claim and --id say what runs where")
    jobs = [json.loads(line) for line in sys.stdin]
    if left := [job["job"] for job in jobs if job["features"]]:
        sys.stderr.write(f"kubernetes.py: {len(left)} jobs need counters or a card, and are left out: {left[0]}, ...\n")
    yaml.safe_dump_all(manifest(arguments, jobs), sys.stdout, sort_keys=False)


if __name__ == "__main__":
    main()
