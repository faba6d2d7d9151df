import CSodium

/// The library that does all cryptography.
enum Sodium {
    /// Chooses what suits the processor. Safe from several threads, and free once it was called.
    static func prepare() {
        let isReady = sodium_init() >= 0
        precondition(isReady, "libsodium finds a source of random numbers")
    }
}
