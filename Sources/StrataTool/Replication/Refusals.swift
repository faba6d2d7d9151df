import StrataModel
import StrataReplication

/// The errors that say no to a request which was understood.
enum Refusals {
    /// Runs `body`, and ends with 1 and the reason if it is refused.
    static func reporting(by command: String, _ body: () throws -> Void) throws -> ExitCode {
        do {
            try body()
            return .success
        } catch let parted as PartedHistories {
            return Diagnostics.refuse(parted.description, code: .brokenChain, by: command)
        } catch let error as StrataError
            where isDisagreement(error)
            || [.alreadyExists, .erased, .invalidArgument, .outOfRange, .tooLarge].contains(error.code)
        {
            return Diagnostics.refuse(error.description, code: error.code, by: command)
        }
    }

    /// Returns true if a copy and its sequencer differ, and each is intact by itself: damage of a log has a segment.
    private static func isDisagreement(_ error: StrataError) -> Bool {
        [.brokenSequence, .brokenChain].contains(error.code) && error.context.segment == nil
    }
}
