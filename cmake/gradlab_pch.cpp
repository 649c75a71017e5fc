// Nothing of its own: CMake makes the precompiled header of the rooms without LibTorch here.
