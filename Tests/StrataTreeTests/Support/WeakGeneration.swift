@testable import StrataTree

/// A generation, without keeping it.
struct WeakGeneration {
    private(set) weak var generation: Generation?
}
