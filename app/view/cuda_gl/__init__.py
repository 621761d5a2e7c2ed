"""Ways for heights from a CUDA device into an OpenGL texture; `choose.open_cuda_transfer` picks one."""
