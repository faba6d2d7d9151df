import StrataModel
import StrataReplication
import StrataSystem

/// Messages in memory, for several object stores of one process.
///
/// ```swift
/// let one = ObjectStore(keeper, SeededRandom(seed: 1))
/// let other = ObjectStore(keeper, SeededRandom(seed: 2))
/// ```
package final class MemoryKeeper: MessageKeeper {
    private let limit: Int
    private let state = Lock((last: 0 as UInt64, messages: [String: KeptMessage]()))

    package init(maximumMessageBytes: Int = 1 << 20) { limit = maximumMessageBytes }

    package func maximumMessageBytes() -> Int { limit }

    package func keep(_ bytes: [UInt8], as name: String, expecting: UInt64?) -> SequencerAnswer {
        guard bytes.count <= limit else {
            return .refused(StrataError(.tooLarge, "The message is longer than the keeper allows."))
        }
        return state.withLock { state in
            if let expecting, expecting != state.messages[name]?.number ?? 0 { return .taken }
            state.last += 1
            state.messages[name] = KeptMessage(number: state.last, bytes: bytes)
            return .accepted(state.last)
        }
    }

    package func message(_ name: String) -> KeptMessage? { state.withLock { $0.messages[name] } }

    package func confirm() {}

    package func names(_ pattern: String) -> [String] {
        let words = pattern.split(separator: ".")
        return state.withLock { Array($0.messages.keys) }.filter { name in
            let own = name.split(separator: ".")
            return own.count == words.count && zip(own, words).allSatisfy { $0 == $1 || $1 == "*" }
        }
    }

    package func remove(below words: String) {
        state.withLock { $0.messages = $0.messages.filter { !$0.key.hasPrefix(words + ".") } }
    }

    package func close() {}

    /// Changes the messages that are kept, as no keeper may.
    package func tamper(_ body: (inout [String: KeptMessage]) -> Void) { state.withLock { body(&$0.messages) } }
}
