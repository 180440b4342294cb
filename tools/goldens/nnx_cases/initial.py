"""What each constructor makes from two sets of seeds, with and without bias."""
from .describe import Layer
from .record import initial

SEEDS = {"zero": 0, "streams": {"params": 1, "dropout": 2, "carry": 3}}
CELL = {"in_features": 2, "hidden_features": 3}
LINEAR = Layer("Linear", in_features=3, out_features=4)
LAYERS = {
    "linear": LINEAR,
    "linear_no_bias": Layer("Linear", in_features=3, out_features=4, use_bias=False),
    "general": Layer("LinearGeneral", in_features=(2, 3), out_features=(2, 2), axis=(-2, -1)),
    "general_batch": Layer("LinearGeneral", in_features=3, out_features=2, batch_axis={0: 2}, use_bias=False),
    "einsum": Layer("Einsum", einsum_str="ij,jkl->ikl", kernel_shape=(3, 2, 2), bias_shape=(2, 2)),
    "einsum_no_bias": Layer("Einsum", einsum_str="ij,jk->ik", kernel_shape=(3, 2)),
    "conv": Layer("Conv", in_features=2, out_features=3, kernel_size=(3, 2)),
    "conv_groups": Layer("Conv", in_features=4, out_features=6, kernel_size=3, feature_group_count=2, use_bias=False),
    "conv_transpose": Layer("ConvTranspose", in_features=2, out_features=3, kernel_size=(3,)),
    "conv_transpose_turned": Layer("ConvTranspose", in_features=2, out_features=3, kernel_size=(3,),
                                   transpose_kernel=True, use_bias=False),
    "embed": Layer("Embed", num_embeddings=5, features=4),
    "lora": Layer("LoRA", in_features=3, lora_rank=2, out_features=4, base_module=LINEAR),
    "lora_linear": Layer("LoRALinear", in_features=3, out_features=4, lora_rank=2),
    "batch_norm": Layer("BatchNorm", num_features=3),
    "batch_norm_no_bias": Layer("BatchNorm", num_features=3, use_bias=False),
    "layer_norm": Layer("LayerNorm", num_features=3),
    "layer_norm_no_bias": Layer("LayerNorm", num_features=3, use_bias=False),
    "rms_norm": Layer("RMSNorm", num_features=3),
    "group_norm": Layer("GroupNorm", num_features=4, num_groups=2),
    "instance_norm": Layer("InstanceNorm", num_features=3),
    "weight_norm": Layer("WeightNorm", layer_instance=LINEAR),
    "spectral_norm": Layer("SpectralNorm", layer_instance=LINEAR),
    "lstm": Layer("LSTMCell", **CELL),
    "optimized_lstm": Layer("OptimizedLSTMCell", **CELL),
    "gru": Layer("GRUCell", **CELL),
    "simple": Layer("SimpleCell", **CELL),
    "lstm_keep_rngs": Layer("LSTMCell", keep_rngs=True, **CELL),
    "rnn": Layer("RNN", cell=Layer("GRUCell", **CELL)),
    "rnn_given": Layer("RNN", cell=Layer("SimpleCell", **CELL), rngs="given"),
    "attention": Layer("MultiHeadAttention", num_heads=2, in_features=4),
    "attention_no_bias": Layer("MultiHeadAttention", num_heads=2, in_features=4, use_bias=False),
    "attention_all": Layer("MultiHeadAttention", num_heads=4, num_kv_heads=2, in_features=3, in_kv_features=2,
                           qkv_features=8, out_features=5, normalize_qk=True, dropout_rate=0.5),
    "attention_no_streams": Layer("MultiHeadAttention", num_heads=2, in_features=4, dropout_rate=0.5,
                                  keep_rngs=False),
    "dropout": Layer("Dropout", rate=0.5, rngs="given"),
    "prelu": Layer("PReLU"),
    "sequential": Layer("Sequential", layers=[LINEAR, Layer("LayerNorm", num_features=4)]),
}


def cases():
    for name, layer in LAYERS.items():
        for seeds, rngs in SEEDS.items():
            yield initial(f"{name}_{seeds}", layer, rngs)
