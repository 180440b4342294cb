#!/usr/bin/env python3
"""How JAX meets Strata: by installing it, by a variable, by a call; and what a program sees that asked for nothing."""
import pathlib
import tempfile

import harness

SHOW = """
import jax
from jax._src import xla_bridge
print(jax.default_backend(), jax.devices()[0].client.platform_version != "cpu", sorted(xla_bridge.backends()))
print(jax.jit(lambda x: x + 1)(41))
"""


def installed(code, mode, **more):
    """As where the wheel is installed: nothing but an entry point tells JAX of us."""
    with tempfile.TemporaryDirectory() as folder:
        info = pathlib.Path(folder, "strata_jax-0.dist-info")
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strata-jax\nVersion: 0\n")
        (info / "entry_points.txt").write_text("[jax_plugins]\nstrata = strata_jax\n")
        return harness.python(code, mode, PYTHONPATH=f"{folder}:{harness.ROOT / 'python'}", **more)


def expect(done, *lines):
    out, err, code = done
    assert code == 0, err
    assert out.splitlines()[: len(lines)] == list(lines), f"printed {out!r}, log {err!r}"
    return err


def refused(done, sentence):
    """The program ended with that sentence."""
    out, err, code = done
    assert code != 0 and sentence in err, f"ended with {code}, printed {out!r}, log {err!r}"


def test_installed_without_a_choice_nothing_changes():
    err = expect(installed(SHOW, mode=None, JAX_PLATFORMS=None), "cpu False ['cpu', 'strata']", "42")
    assert not err, err


def test_installed_it_is_there_by_name():
    code = SHOW + "import strata_jax; d = jax.devices('strata')[0]; print(strata_jax.is_strata(d), jax.device_put(1, d).devices() == {d}, strata_jax.mode().value)"
    expect(installed(code, mode=None, JAX_PLATFORMS=None), "cpu False ['cpu', 'strata']", "42", "True True side-by-side")


def test_a_program_that_names_cpu_does_not_start_it():
    expect(installed(SHOW, mode=None, JAX_PLATFORMS="cpu"), "cpu False ['cpu']", "42")


def test_side_by_side():
    expect(installed(SHOW, mode=None, JAX_PLATFORMS="strata,cpu"), f"{reported()} True ['cpu', 'strata']", "42")


def reported():
    return "strata" if harness.LIBRARY.name.startswith("libstrata") else "cpu"


def test_drop_in_by_the_variable():
    expect(installed(SHOW, mode="drop-in", JAX_PLATFORMS=None), "cpu True ['cpu']", "42")
    expect(installed(SHOW, mode="drop-in", JAX_PLATFORMS="cpu"), "cpu True ['cpu']", "42")


def test_drop_in_by_a_call():
    call = "import strata_jax; strata_jax.drop_in(); strata_jax.drop_in()\n"
    expect(harness.python(call + SHOW, mode=None, JAX_PLATFORMS=None), "cpu True ['cpu']", "42")
    expect(installed(call + SHOW, mode="side-by-side", JAX_PLATFORMS="cpu"), "cpu True ['cpu']", "42")


def test_back_to_side_by_side_by_a_call():
    call = "import strata_jax; strata_jax.side_by_side()\n"
    expect(harness.python(call + SHOW, mode="drop-in", JAX_PLATFORMS=None), "cpu False ['cpu', 'strata']", "42")


def test_off():
    expect(installed(SHOW, mode="off", JAX_PLATFORMS=None), "cpu False ['cpu']", "42")


def test_drop_in_keeps_the_built_in_cpu():
    expect(installed(SHOW, mode="drop-in", JAX_PLATFORMS="cpu,xla_cpu"), "cpu True ['cpu', 'xla_cpu']", "42")
    later = SHOW + "import strata_jax; (d,) = strata_jax.xla_cpu(); print(strata_jax.is_strata(d), jax.device_put(1, d) + 1)"
    expect(installed(later, mode="drop-in", JAX_PLATFORMS=None), "cpu True ['cpu']", "42", "False 2")


def test_too_late_is_said():
    late = "import jax; jax.devices(); import strata_jax; print(strata_jax.mode().value); strata_jax.drop_in()"
    done = harness.python(late, mode=None, JAX_PLATFORMS=None)
    assert done[0] == "off\n", done
    refused(done, "RuntimeError: strata_jax: drop-in must be chosen before JAX is first used")


def test_a_wrong_choice_is_named():
    refused(harness.python("import strata_jax", mode="dropin"), "STRATA_JAX is 'dropin'; known are off, side-by-side, drop-in")


def test_another_jax_gets_a_sentence():
    other = "import jax; jax.__version__ = '0.9.3'; import strata_jax; print(strata_jax.mode().value, jax.default_backend())"
    out, err, code = harness.python(other, mode=None, JAX_PLATFORMS=None)
    assert (out, code) == ("off cpu\n", 0) and "Traceback" not in err, (out, err)
    assert "works with JAX 0.10.x, 0.11.x, 0.12.x, but this is JAX 0.9.3: Strata is not registered" in err, err
    refused(harness.python(other + "; strata_jax.drop_in()", mode=None, JAX_PLATFORMS=None), "but this is JAX 0.9.3")


def test_a_missing_library_breaks_only_what_chose_it():
    err = expect(installed(SHOW, mode=None, JAX_PLATFORMS=None, STRATA_PJRT_LIBRARY="/nowhere/libstrata_pjrt.so"), "cpu False ['cpu']", "42")
    assert "Strata is not registered" in err and "Traceback" not in err, err
    expect(installed(SHOW, mode="side-by-side", JAX_PLATFORMS=None, STRATA_PJRT_LIBRARY="/nowhere/libstrata_pjrt.so"), "cpu False ['cpu']", "42")
    for mode, platforms in (("drop-in", None), ("side-by-side", "strata,cpu")):
        chosen = installed(SHOW, mode=mode, JAX_PLATFORMS=platforms, STRATA_PJRT_LIBRARY="/nowhere/libstrata_pjrt.so")
        refused(chosen, "/nowhere/libstrata_pjrt.so: cannot open shared object file")


def test_devices_as_many_as_asked_for():
    code = "import strata_jax, jax; print(jax.device_count(), sorted(d.id for d in jax.devices()))"
    expect(harness.python(code, mode="drop-in"), "1 [0]")
    expect(harness.python(code, mode="drop-in", JAX_NUM_CPU_DEVICES="2"), "2 [0, 1]")


if __name__ == "__main__":
    harness.run(globals(), modes=())
