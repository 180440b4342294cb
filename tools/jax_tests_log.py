"""A pytest plugin for tools/jax_tests: writes each test's start and end as a line of JSON, so that a crash leaves its test's name.

JAX_TESTS_LOG          the file to append to; tests that it has an end of are not run again
JAX_TESTS_ONE_DEVICE   set: the CPU has one device, however many a file asks for
JAX_TESTS_DEVICE       the number of the device on which programs run that say none
"""
import collections
import json
import os

import pytest

_path = os.environ["JAX_TESTS_LOG"]
_programs = collections.Counter()  # compiled since the last test's end, by the version that the compiling client gives of itself
_statuses = {}
_log = None


def _write(**line):
    _log.write(json.dumps(line) + "\n")
    _log.flush()


def _ended():
    with open(_path) as lines:
        return {line["end"] for line in map(json.loads, lines) if "end" in line}


def _count_programs():
    """Counts what is compiled, and the starts of XLA's own CPU client."""
    from jax._src import compiler
    from jax._src.lib import xla_client

    compile_, start = compiler.backend_compile_and_load, xla_client._xla.get_tfrt_cpu_client

    def backend_compile_and_load(backend, *args, **kwargs):
        _programs[backend.platform_version] += 1
        return compile_(backend, *args, **kwargs)

    def get_tfrt_cpu_client(*args, **kwargs):
        _write(started="XLA's own CPU client")
        return start(*args, **kwargs)

    compiler.backend_compile_and_load = backend_compile_and_load
    xla_client._xla.get_tfrt_cpu_client = get_tfrt_cpu_client


def _refuse_devices():
    from jax._src import test_util

    test_util.request_cpu_devices = lambda count: None


def pytest_collection_finish(session):
    number = os.environ.get("JAX_TESTS_DEVICE")
    if number:
        import jax

        jax.config.update("jax_default_device", jax.devices()[int(number)])


def pytest_configure(config):
    global _log
    _log = open(_path, "a")
    if os.environ.get("JAX_TESTS_ONE_DEVICE"):
        _refuse_devices()
    _count_programs()


def pytest_collection_modifyitems(config, items):
    done = _ended()
    config.hook.pytest_deselected(items=[i for i in items if i.nodeid in done])
    items[:] = [i for i in items if i.nodeid not in done]


def pytest_runtest_logstart(nodeid, location):
    _write(start=nodeid)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    status, reason, seconds = _statuses.get(report.nodeid, ("passed", "", 0.0))
    if report.failed and status != "failed":
        crash = getattr(report.longrepr, "reprcrash", None)
        status, reason = "failed", crash.message if crash else str(report.longrepr)
    elif report.skipped and status == "passed":
        # What is expected to fail and does is no skip to compare; it counts as one all the same.
        status, reason = "skipped", report.longrepr[2] if isinstance(report.longrepr, tuple) else str(getattr(report, "wasxfail", ""))
    _statuses[report.nodeid] = status, reason, seconds + report.duration


def pytest_runtest_logfinish(nodeid, location):
    status, reason, seconds = _statuses.pop(nodeid, ("failed", "no report", 0.0))
    _write(end=nodeid, status=status, reason=reason[:4000], seconds=round(seconds, 3), programs=dict(_programs))
    _programs.clear()
