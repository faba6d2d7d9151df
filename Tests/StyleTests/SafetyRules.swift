/// Calls that library code leaves to programs, and what to use in their place.
struct BannedCallsRule: FileRule {
    static let calls: [(call: String, instead: String)] = [
        ("print(", "return the text, or write it to an output that the caller passes in"),
        ("debugPrint(", "remove it; tests and the tool show state"),
        ("NSLog", "return the text, or write it to an output that the caller passes in"),
        ("fatalError(", "throw what data or a caller causes; preconditionFailure where an invariant of ours is broken"),
        ("try!", "`try`, and let the caller decide"),
        ("as!", "`as?` with an error for the other case, or a type that makes the cast needless"),
    ]

    func findings(in file: SourceFile) -> [Finding] {
        guard file.isLibrary else { return [] }
        return file.code.indices.flatMap { line in
            Self.calls.filter { isCalled($0.call, in: file.code[line]) }.map {
                file.finding(line, "`\($0.call)` in library code; instead: \($0.instead)")
            }
        }
    }

    /// A method of that name, `value.print(…)`, and its declaration are something else, but `Swift.print(…)` is not.
    private func isCalled(_ call: String, in line: String) -> Bool {
        line.positions(ofWord: call).contains { start in
            let before = String(decoding: line.utf8.prefix(start), as: UTF8.self)
            return before.hasSuffix("Swift.") || !(before.hasSuffix(".") || before.hasSuffix("func "))
        }
    }
}

/// A force unwrap in library code traps; where it cannot, a comment says why.
struct ForceUnwrapRule: FileRule {
    func findings(in file: SourceFile) -> [Finding] {
        guard file.isLibrary else { return [] }
        return file.code.indices.compactMap { line in
            guard forces(Array(file.code[line].utf8)) else { return nil }
            if file.hasReason(line) || line > 0 && file.hasReason(line - 1) { return nil }
            return file.finding(
                line, "`!` without a reason; use guard, or say in a comment on this line or above why it holds")
        }
    }

    private func forces(_ code: [UInt8]) -> Bool {
        code.indices.dropFirst().contains { index in
            guard code[index] == UInt8(ascii: "!") else { return false }
            if index + 1 < code.count, code[index + 1] == UInt8(ascii: "=") { return false }
            let before = code[index - 1]
            guard before.isInIdentifier || [")", "]", "}", "\"", ">"].contains(Character(Unicode.Scalar(before))) else {
                return false
            }
            // These have a rule of their own.
            let word = code[..<index].reversed().prefix { $0.isInIdentifier }.reversed()
            return !word.elementsEqual("try".utf8) && !word.elementsEqual("as".utf8)
        }
    }
}

/// What the compiler does not check, a sentence must.
struct UncheckedRule: FileRule {
    static let marks = ["@unchecked Sendable", "nonisolated(unsafe)"]
    static let reach = 3

    func findings(in file: SourceFile) -> [Finding] {
        file.code.indices.flatMap { line in
            Self.marks.filter { file.code[line].contains($0) }.compactMap { mark in
                guard !(max(0, line - Self.reach)...line).contains(where: file.hasReason) else { return nil }
                return file.finding(line, "`\(mark)` without a reason; say in a `//` comment above why it is safe")
            }
        }
    }
}
