import Foundation
import StrataModel
import StrataSystem

/// The file of everything that was asked and answered, in the order in which it happened.
///
/// | line | |
/// |---|---|
/// | `> P N KIND ZONE NAME …` | operation N is about to be sent to process P, as ``StoreWorker`` reads it |
/// | `< N ok OFFSET VERSION` | it was acknowledged as this commit |
/// | `< N none` | it was answered without a commit |
/// | `< N refused changed\|missing VERSION` | it was refused because of this version of the record |
/// | `< N unwritten` | it failed, and nothing was written |
/// | `< N unknown` | there was no answer, or one that does not know |
/// | `< N is STATE VERSION NUMBER PHOTO COUNT` | a record in a state |
/// | `< N changes STATE COUNT SUM TOKEN` | the changes of a zone up to a state |
/// | `< N error TEXT` | anything else |
/// | `! MILLISECONDS TARGET KIND` | a fault |
/// | `! over`, `! quiet` | the end of the last fault, and of the time after it |
final class History: Sendable {
    private struct State {
        var buffer: [UInt8] = []
        let file: Int32
    }

    static let name = "history"
    private static let bufferBytes = 256 << 10
    private let state: Lock<State>

    init(in folder: String) throws {
        let path = "\(folder)/\(Self.name)"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw StrataError.systemCall("open", path: path, errno: errno) }
        state = Lock(State(file: file))
    }

    func note(_ lines: [String]) {
        state.withLock { state in
            for line in lines {
                state.buffer += line.utf8
                state.buffer.append(0x0A)
            }
            if state.buffer.count >= Self.bufferBytes { Self.flush(&state) }
        }
    }

    func close() {
        state.withLock { state in
            Self.flush(&state)
            Glibc.close(state.file)
        }
    }

    private static func flush(_ state: inout State) {
        var start = 0
        while start < state.buffer.count {
            let count = state.buffer[start...].withUnsafeBytes { write(state.file, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            start += count
        }
        state.buffer.removeAll(keepingCapacity: true)
    }
}
