import StrataModel
import StrataRules
import TestSupport
import Testing

@testable import StrataStore

/// What a request costs grows with what it asks for, however its items hang together.
@Suite(.serialized) struct WideRequestTests {
    private typealias Save = Client.Save

    /// Whether four times as much takes less than ten times as long, where each with each would take sixteen times; of
    /// several tries, the least.
    private func growsEvenly(_ size: Int, _ seconds: (Int) throws -> Double) rethrows -> Bool {
        var (small, large) = (Double.infinity, Double.infinity)
        for _ in 0..<4 {
            small = min(small, try seconds(size))
            large = min(large, try seconds(size * 4))
            if large < 10 * small { return true }
        }
        return false
    }

    @Test func `children whose parents fail one after another`() throws {
        let isEven = try growsEvenly(500) { count in
            let client = try Client(.embedded)
            let saves = (0..<count).map { Save("a\($0)", parent: "a\($0 + 1)") } + [Save("_bad")]
            var codes: [Refusal.Code?] = []
            let seconds = ThreadTime.seconds { codes = client.codes(saves) }
            #expect(codes == Array(repeating: .referenceViolation, count: count) + [.invalidArguments])
            return seconds
        }
        #expect(isEven)
    }

    @Test func `deletes of which each takes the next along`() throws {
        let isEven = try growsEvenly(400) { count in
            let client = try Client(.embedded)
            #expect(
                client.codes((0..<count).map { Save("a\($0)", $0 == 0 ? [:] : ["o": owner("a\($0 - 1)")]) })
                    == Array(repeating: nil, count: count))
            var codes: [Refusal.Code?] = []
            let seconds = ThreadTime.seconds { codes = client.codes(deletes: (0..<count).map { .init("a\($0)") }) }
            #expect(codes == Array(repeating: nil, count: count) && !client.exists("a\(count - 1)"))
            return seconds
        }
        #expect(isEven)
    }

    @Test func `a client token in many zones`() throws {
        let isEven = try growsEvenly(300) { count in
            let client = try Client(.embedded).with { $0.token = [1] }
            #expect(client.zones(save: (0..<count).map { "z\($0)" }).allSatisfy { $0 == nil })
            let saves = (0..<count).map { Save("a", in: "z\($0)") }
            var codes: [Refusal.Code?] = []
            let seconds = ThreadTime.seconds { for _ in 0..<2 { codes = client.codes(saves) } }
            #expect(codes == Array(repeating: nil, count: count))
            return seconds
        }
        #expect(isEven)
    }

    @Test func `one more owner's reference, however many there are`() throws {
        let isEven = try growsEvenly(1_500) { count in
            let client = try Client(.embedded)
            #expect(
                client.codes((0..<count).map { Save("a\($0)", ["o": owner("x")]) })
                    == Array(repeating: nil, count: count))
            // Without the time of a request by itself, which does not grow.
            let plain = ThreadTime.seconds { for name in 0..<20 { _ = client.codes([Save("p\(name)")]) } }
            let owned = ThreadTime.seconds {
                for name in 0..<20 { _ = client.codes([Save("b\(name)", ["o": owner("x")])]) }
            }
            #expect(client.exists("b19"))
            return max(0.000_1, owned - plain)
        }
        #expect(isEven)
    }

    @Test func `many types with many keys bind as few do`() throws {
        let client = try Client(.embedded)
        let count = 1_100
        var saves = (0..<count).map { Save("a\($0)", ["k\($0)": .int64(1)], type: "T\($0)") }
        saves.append(Save("b", ["k7": .double(2), "k8": .double(0.5)], type: "T7"))
        saves.append(Save("c", ["k7": .string("no")], type: "T7"))
        #expect(client.codes(saves) == Array(repeating: nil, count: count + 1) + [.invalidArguments])
        #expect(try client.fields("b") == ["k7": .int64(2), "k8": .double(0.5)])
        #expect(client.codes([Save("d", ["k8": .int64(3)], type: "T7")]) == [nil])
        #expect(try client.fields("d") == ["k8": .double(3)])
    }

    @Test func `what one commit has no room for is refused as too much`() throws {
        let store = try Client(.embedded)
        var request = store.request((0..<17).map { Save("a\($0)") })
        guard case .modifyRecords(var body) = request.content else { return }
        var key = 0
        for index in body.saves.indices {
            body.saves[index].fields = (0..<65_000).map { _ in
                key += 1
                return FieldChange(request.names.ordinal(ofKey: "k\(key)"), nil)
            }
        }
        request.content = .modifyRecords(body)
        let refusal = store.ask(request).map(\.result).refusal
        #expect(refusal?.code == .limitExceeded && refusal?.rule == .commitLimit)
        #expect(store.codes([Save("b")]) == [nil])
    }
}
