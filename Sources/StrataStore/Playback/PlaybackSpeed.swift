import StrataModel

/// The speed at which a history is played.
public enum PlaybackSpeed: Sendable, Hashable {
    /// With the original pauses between commits.
    case original
    /// Faster by a factor; below 1 it is slower.
    case multiplied(Double)
    /// Without pauses.
    case unpaced
    /// Only by calls of ``Playback/step()``.
    case stepped

    /// - Throws: ``StrataError`` `invalidArgument` for a factor that is not a positive number.
    func requireValid() throws {
        guard case .multiplied(let factor) = self, !(factor > 0 && factor.isFinite) else { return }
        throw StrataError(
            .invalidArgument, "The speed factor of a playback must be a positive number.", .init(found: "\(factor)"))
    }
}
