"""Adam and its relatives: the aliases, each as it comes and with other settings."""
from .calls import call, mask, named, schedule
from .kinds import rule

WARMUP = schedule("warmup_cosine_decay_schedule", init_value=0.0, peak_value=0.3, warmup_steps=2, decay_steps=6,
                  end_value=0.03)
LINEAR = schedule("linear_schedule", init_value=0.1, end_value=0.02, transition_steps=4)
FIRST = mask(a=True, b__w=True, b__e=False)

CASES = [
    rule("adam", "adam", learning_rate=0.1),
    rule("adam_settings", "adam", learning_rate=LINEAR, b1=0.8, b2=0.95, eps=1e-3, eps_root=1e-4),
    rule("adam_nesterov", "adam", learning_rate=0.1, nesterov=True),
    rule("nadam", "nadam", learning_rate=0.1),
    rule("adamw", "adamw", learning_rate=0.1),
    rule("adamw_settings", "adamw", learning_rate=WARMUP, b1=0.85, b2=0.95, eps=1e-6, eps_root=1e-8, weight_decay=0.1,
         mask=named("matrices")),
    rule("adamw_nesterov", "adamw", learning_rate=0.1, weight_decay=0.05, mask=FIRST, nesterov=True),
    rule("nadamw", "nadamw", learning_rate=0.1, weight_decay=0.2),
    rule("adamax", "adamax", learning_rate=0.1),
    rule("adamax_settings", "adamax", learning_rate=LINEAR, b1=0.7, b2=0.9, eps=1e-2),
    rule("adamaxw", "adamaxw", learning_rate=0.1, weight_decay=0.1, mask=FIRST),
    rule("amsgrad", "amsgrad", learning_rate=0.1),
    rule("amsgrad_uncorrected", "amsgrad", learning_rate=0.1, b1=0.8, b2=0.9, eps_root=1e-3, bias_correction_mu=False,
         bias_correction_nu=False),
    rule("adabelief", "adabelief", learning_rate=0.1),
    rule("adabelief_settings", "adabelief", learning_rate=LINEAR, b1=0.8, b2=0.95, eps=1e-5, eps_root=1e-4,
         nesterov=True),
    rule("yogi", "yogi", learning_rate=0.1),
    rule("yogi_settings", "yogi", learning_rate=LINEAR, b1=0.8, b2=0.9, eps=1e-2),
    rule("radam", "radam", learning_rate=0.1, STEPS=8),
    rule("radam_settings", "radam", learning_rate=0.1, b1=0.8, b2=0.9, eps_root=1e-4, threshold=2.0, nesterov=True),
    rule("adan", "adan", learning_rate=0.1),
    rule("adan_settings", "adan", learning_rate=LINEAR, b1=0.9, b2=0.8, b3=0.95, eps=1e-4, eps_root=1e-4,
         weight_decay=0.1, mask=FIRST),
    rule("lion", "lion", learning_rate=0.1),
    rule("lion_settings", "lion", learning_rate=LINEAR, b1=0.8, b2=0.95, weight_decay=0.1, mask=named("matrices")),
    rule("lamb", "lamb", learning_rate=0.1),
    rule("lamb_settings", "lamb", learning_rate=LINEAR, b1=0.8, b2=0.95, eps=1e-4, eps_root=1e-6, weight_decay=0.1,
         mask=FIRST),
    rule("novograd", "novograd", learning_rate=0.1),
    rule("novograd_settings", "novograd", learning_rate=LINEAR, b1=0.8, b2=0.5, eps=1e-3, eps_root=1e-4,
         weight_decay=0.1),
    rule("optimistic_adam", "optimistic_adam", learning_rate=0.1),
    rule("optimistic_adam_settings", "optimistic_adam", learning_rate=0.1, optimism=0.05, b1=0.8, nesterov=False),
    rule("optimistic_adam_v2", "optimistic_adam_v2", learning_rate=LINEAR),
    rule("optimistic_adam_v2_settings", "optimistic_adam_v2", learning_rate=0.1, alpha=0.7, beta=0.4, nesterov=False),
    rule("adamw_clipped", "chain", transforms=[call("clip_by_global_norm", max_norm=1.0),
                                               call("adamw", learning_rate=WARMUP, b2=0.95, weight_decay=0.1)]),
]
