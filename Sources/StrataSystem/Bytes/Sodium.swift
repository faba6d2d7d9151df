import CStrataSodium

/// The library used for all cryptography.
enum Sodium {
    /// Selects the implementations that suit the processor. Safe from several threads; later calls are free.
    static func prepare() {
        let isReady = sodium_init() >= 0
        precondition(isReady, "libsodium needs a source of random numbers")
    }
}
