import Foundation
import StrataModel

/// The operations of a history, in memory.
struct RecordedOperations {
    enum Kind: UInt8 {
        case save, photo, count, delete, read, fetch, feed

        init?(_ word: Substring) {
            switch word {
            case "save": self = .save
            case "photo": self = .photo
            case "count": self = .count
            case "delete": self = .delete
            case "read": self = .read
            case "fetch": self = .fetch
            case "feed": self = .feed
            default: return nil
            }
        }

        var isWrite: Bool { rawValue <= Self.delete.rawValue }
    }

    enum Status: UInt8 {
        case unanswered, ok, none, changed, missing, unwritten, unknown, found, changes, error
    }

    struct Operation {
        var number: Int
        var kind: Kind
        var status = Status.unanswered
        /// The record, or the zone of a feed; an index of ``RecordedOperations/keys``.
        var key: Int
        /// The version that a save is based on; the state behind which a feed asks.
        var base: UInt64
        /// The value that a count saves.
        var count: Int64
        /// The process, and this time that it ran.
        var process: Int
        var run: Int
        /// The last offset that was acknowledged to anyone before it was asked.
        var bound: UInt64
        /// The last state that its process had shown by then.
        var shown: UInt64
        /// The offset of its acknowledgement, or the state that was read.
        var offset: UInt64 = 0
        /// The version, or the sum of a feed.
        var version: UInt64 = 0
        /// The number that was read, or the count of a feed.
        var value: Int64 = 0
        var readCount: Int64 = 0
        var hasBadPhoto = false
    }

    private(set) var operations: [Operation] = []
    /// The index of each number's operation, or -1.
    private(set) var indexes: [Int32] = []
    private(set) var keys: [String] = []
    /// The processes that acknowledged something that was asked after the last fault, and whether that time is over.
    private(set) var acknowledging: Set<Int> = []
    private(set) var hasQuietTime = false
    private(set) var problems: [String] = []
    /// The number of faults of each kind.
    private(set) var faults: [String: Int] = [:]
    private var keyIndexes: [String: Int] = [:]
    private var runs: [String: Int] = [:]
    private var shown: [UInt64] = []
    private var bound: UInt64 = 0
    private var quietStart: Int?

    init(reading path: String, doctored: (Substring) -> [Substring] = { [$0] }) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        var start = data.startIndex
        while let end = data[start...].firstIndex(of: 0x0A) {
            for line in doctored(Substring(decoding: data[start..<end], as: UTF8.self)) { take(line) }
            start = end + 1
        }
    }

    func index(of number: Int) -> Int? {
        indexes.indices.contains(number) && indexes[number] >= 0 ? Int(indexes[number]) : nil
    }

    private mutating func take(_ line: Substring) {
        let words = line.split(separator: " ")
        switch words.first {
        case ">": ask(words)
        case "<": answer(words)
        case "!" where words.count > 1 && words[1] == "over": quietStart = operations.count
        case "!" where words.count > 1 && words[1] == "quiet": (hasQuietTime, quietStart) = (quietStart != nil, nil)
        case "!" where words.count > 3: faults[words[3...].joined(separator: " "), default: 0] += 1
        default: problems.append("the history has the line '\(line.prefix(100))'")
        }
    }

    private mutating func ask(_ words: [Substring]) {
        guard words.count >= 6, let number = Int(words[2]), number > 0, let kind = Kind(words[3]) else {
            return problems.append("the history has the request '\(words)'")
        }
        let name = kind == .feed ? String(words[4]) : "\(words[4])/\(words[5])"
        let key = keyIndexes[name] ?? keys.count
        if key == keys.count {
            keys.append(name)
            keyIndexes[name] = key
        }
        let run = runs[String(words[1])] ?? shown.count
        if run == shown.count {
            shown.append(0)
            runs[String(words[1])] = run
        }
        while indexes.count <= number { indexes.append(-1) }
        indexes[number] = Int32(operations.count)
        let base = kind == .feed ? UInt64(words[5]) : words.count > 6 ? UInt64(words[6]) : nil
        operations.append(
            Operation(
                number: number, kind: kind, key: key, base: base ?? 0,
                count: words.count > 7 ? Int64(words[7]) ?? 0 : 0, process: Int(words[1].prefix { $0 != "." }) ?? 0,
                run: run, bound: bound, shown: shown[run]))
    }

    private mutating func answer(_ words: [Substring]) {
        guard words.count >= 3, let number = Int(words[1]), let index = index(of: number) else {
            return problems.append("the history has the answer '\(words)'")
        }
        func word(_ place: Int) -> UInt64 { words.count > place ? UInt64(words[place]) ?? 0 : 0 }
        if operations[index].status != .unanswered { problems.append("operation \(number) was answered twice") }
        var operation = operations[index]
        operation.offset = word(3)
        switch words[2] {
        case "ok":
            (operation.status, operation.version) = (.ok, word(4))
            bound = max(bound, operation.offset)
            if let quietStart, index >= quietStart { acknowledging.insert(operation.process) }
        case "none": operation.status = .none
        case "refused":
            operation.status = words[3] == "changed" ? .changed : .missing
            (operation.version, operation.offset) = (word(4), 0)
        case "unwritten": operation.status = .unwritten
        case "unknown": operation.status = .unknown
        case "is":
            (operation.status, operation.version) = (.found, word(4))
            operation.value = words.count > 5 ? Int64(words[5]) ?? -1 : -1
            operation.readCount = Int64(word(7))
            operation.hasBadPhoto = words.count > 6 && words[6] == "bad"
        case "changes":
            (operation.status, operation.value, operation.version) = (.changes, Int64(word(4)), word(5))
        default: operation.status = .error
        }
        operations[index] = operation
        shown[operation.run] = max(shown[operation.run], operation.offset)
    }
}
