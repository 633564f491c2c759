/* Arrays from .npy files whose header takes 128 bytes. */
static void *allocate_array(size_t bytes) {
    /* A whole number of cache lines, as aligned_alloc asks for. */
    void *data = aligned_alloc(64, (bytes / 64 + 1) * 64);
    if (!data) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    memset(data, 0, bytes);
    return data;
}

static void *read_array(const char *folder, const char *name, size_t bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    FILE *file = fopen(path, "rb");
    void *data = allocate_array(bytes);
    if (!file || fseek(file, 128, SEEK_SET) || fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot read %zu bytes of %s\n", bytes, path);
        exit(1);
    }
    fclose(file);
    return data;
}
