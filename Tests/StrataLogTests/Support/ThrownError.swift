import StrataLog
import StrataModel

/// The error of the engine that `body` throws; nil if it throws none, or another kind.
func thrownError(_ body: () throws -> Void) -> StrataError? {
    do { try body() } catch { return error as? StrataError }
    return nil
}

/// The code of the engine's error that `body` throws, wherever it is: thrown itself or as the reason of a failed
/// append.
func thrownCode(_ body: () throws -> Void) -> StrataError.Code? {
    do { try body() } catch { return code(of: error) }
    return nil
}

func code(of error: any Error) -> StrataError.Code? {
    switch error as? AppendFailure {
    case .notWritten(let error), .unknown(let error): error.code
    case .tooLarge: .tooLarge
    case .conflict, nil: (error as? StrataError)?.code
    }
}

/// How an append fails, in one word; nil if it does not.
func appendOutcome(_ body: () throws -> Void) -> String? {
    do { try body() } catch let failure as AppendFailure {
        switch failure {
        case .conflict: return "conflict"
        case .notWritten: return "not written"
        case .unknown: return "unknown"
        case .tooLarge: return "too large"
        }
    } catch { return "\(error)" }
    return nil
}

/// A check that failed deep inside a loop, where `#expect` would be slow and say too little of where it was.
struct Mismatch: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func check(_ condition: Bool, _ description: @autoclosure () -> String) throws {
    if !condition { throw Mismatch(description()) }
}
