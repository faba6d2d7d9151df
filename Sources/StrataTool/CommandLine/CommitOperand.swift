import StrataModel

/// A commit on a command line, given by its offset or counted from the end.
enum CommitOperand: Sendable, Equatable {
    case offset(UInt64)
    /// The last commit is 1.
    case fromEnd(UInt64)

    static let operand = Operand(
        name: "OFFSET",
        help: "the commit's offset, as 'strata log' prints it; last, HEAD or -1 for the last commit, HEAD~1 or -2 for "
            + "the one before it", mayBeNegative: true)

    /// Returns nil for text that does not name a commit.
    init?(parsing text: String) {
        if !text.hasPrefix("-"), let offset = UInt64(text) {
            self = .offset(offset)
        } else if let place = Self.placeFromEnd(text), place > 0 {
            self = .fromEnd(place)
        } else {
            return nil
        }
    }

    /// - Parameters:
    ///   - name: the name of the argument, for error messages.
    ///   - first: the smallest offset.
    init(_ text: String, as name: String = "OFFSET", from first: UInt64 = 1) throws(UsageError) {
        if let commit = Self(parsing: text), case .fromEnd = commit {
            self = commit
            return
        }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw UsageError("\(name) takes a number, not '\(text)'; last and HEAD~1 count from the end")
        }
        self = .offset(try Option<UInt64>.number(name, "", first...Version.maximumOffset, help: "").convert(text))
    }

    private static func placeFromEnd(_ text: String) -> UInt64? {
        let text = text.lowercased()
        if text.hasPrefix("-") { return UInt64(text.dropFirst()) }
        guard let word = ["last", "head"].first(where: text.hasPrefix) else { return nil }
        let rest = text.dropFirst(word.count)
        if rest.isEmpty { return 1 }
        guard rest.first == "~", let count = UInt64(rest.dropFirst()), count <= Version.maximumOffset else {
            return nil
        }
        return count + 1
    }

    /// Returns the two sides of a range such as `10..20`, one of which may be empty; nil for another word.
    ///
    /// - Parameter isPlace: returns true for the text of a side.
    static func range(
        _ word: String, isPlace: (String) -> Bool = { CommitOperand(parsing: $0) != nil }
    ) -> (from: String, to: String)? {
        guard let dots = word.firstRange(of: "..") else { return nil }
        let sides = (from: String(word[..<dots.lowerBound]), to: String(word[dots.upperBound...]))
        let arePlaces = [sides.from, sides.to].allSatisfy { $0.isEmpty || isPlace($0) }
        return arePlaces && word != ".." ? sides : nil
    }

    /// Returns the offset of the commit in a log that ends at `end`; 0 if it would come before the first commit.
    func offset(upTo end: @autoclosure () throws -> UInt64) rethrows -> UInt64 {
        switch self {
        case .offset(let offset): return offset
        case .fromEnd(let place):
            let last = try end()
            return last + 1 - min(place, last + 1)
        }
    }
}

extension CommitOperand: CustomStringConvertible {
    var description: String {
        switch self {
        case .offset(let offset): "\(offset)"
        case .fromEnd(let place): place == 1 ? "HEAD" : "HEAD~\(place - 1)"
        }
    }
}

extension Option where Value == CommitOperand {
    static func commit(_ name: String, from first: UInt64 = 1, help: String) -> Option {
        Option(name: name, valueName: "OFFSET", help: help) { text throws(UsageError) in
            try CommitOperand(text, as: name, from: first)
        }
    }
}
