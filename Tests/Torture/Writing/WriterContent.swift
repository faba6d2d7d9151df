import TestSupport

/// The values of a writer's records, from the numbers of the requests that saved them.
struct WriterContent: Sendable {
    static let counterUser = "counter-user"
    static let counterName = "counter"

    let seed: UInt64
    let writer: Int

    var user: String { "user-\(writer)" }

    private func generator(_ number: Int, _ kind: UInt64) -> SeededGenerator {
        // One after the other: combined at once, two numbers and kinds could come to the same texts.
        var mixed = SeededGenerator(seed: seed ^ (UInt64(writer) << 56))
        for value in [UInt64(number), kind] { mixed = SeededGenerator(seed: mixed.next() ^ value) }
        return mixed
    }

    /// Digits that no other record has, in which a search cannot go wrong.
    private func digits(_ count: Int, _ number: Int, _ kind: UInt64) -> String {
        var generator = generator(number, kind)
        var text = ""
        while text.count < count { text += String(generator.next(), radix: 36) }
        return text
    }

    func text(_ number: Int, of name: String) -> String {
        let own = name.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
        return "text-" + digits(40 + number % 7 * 60, number, own << 2 | 1)
    }

    func sealed(_ number: Int) -> String { "seal-" + digits(40, number, 2) }

    func asset(_ number: Int) -> [UInt8] {
        var generator = generator(number, 3)
        return generator.nextBytes(500 + number % 5 * 900)
    }
}
