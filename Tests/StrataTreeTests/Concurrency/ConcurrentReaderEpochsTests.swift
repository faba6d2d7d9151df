import StrataSystem
import Synchronization
import TestSupport
import Testing

@testable import StrataTree

@Suite("Waiting for readers")
struct ConcurrentReaderEpochsTests {
    @Test("Nobody uses a place after a writer has waited", .timeLimit(.minutes(10)), arguments: [1, 3])
    func moving(writers: Int) throws {
        let game = PlaceGame(ReaderEpochs(), places: 500)
        try game.play(readers: 3, writers: writers)
        #expect(game.mistakes.load(ordering: .relaxed) == 0)
    }

    @Test("Canary: waiting that does not wait is noticed", .timeLimit(.minutes(10)))
    func canary() throws {
        // Whether a reader is caught in the act depends on who runs when: a busy machine needs several tries.
        var mistakes = 0
        for _ in 0..<50 where mistakes == 0 {
            let game = PlaceGame(NoSections(), places: 20_000)
            try game.play(readers: 3, writers: 1)
            mistakes = game.mistakes.load(ordering: .relaxed)
        }
        #expect(mistakes > 0)
    }

    /// A first waiter is held up between its two looks by a reader; a second one comes in between.
    @Test("Of two waiters each waits for all who were inside before it", .timeLimit(.minutes(10)))
    func twoWaiters() throws {
        let sections = ReaderEpochs()
        let early = sections.enter()
        let first = try Waiter(sections)
        let long = sections.enter()
        sections.leave(early)
        Waiter.letOthersRun()
        let short = sections.enter()
        let (second, third) = (try Waiter(sections), try Waiter(sections))
        sections.leave(short)
        Waiter.letOthersRun()
        // The first one need not wait for the long reader, who came later.
        for waiter in [second, third] { #expect(!waiter.isDone, "somebody who was there before is inside") }
        sections.leave(long)
        for waiter in [first, second, third] { waiter.join() }
    }

    @Test("Who comes later keeps nobody waiting", .timeLimit(.minutes(10)))
    func laterReaders() throws {
        let sections = ReaderEpochs()
        let stops = Flag()
        // At every moment one of the two is inside.
        let readers = try (0..<2).map { _ in
            try WorkerThread(name: "test-reader") {
                var ticket = sections.enter()
                while !stops.isSet {
                    let next = sections.enter()
                    sections.leave(ticket)
                    ticket = next
                }
                sections.leave(ticket)
            }
        }
        for _ in 0..<50 { sections.waitForReaders() }
        stops.set()
        for reader in readers { reader.join() }
    }
}

/// A thread that waits for the readers.
private final class Waiter: Sendable {
    private let done = Flag()
    private let thread: WorkerThread

    init(_ sections: ReaderEpochs) throws {
        thread = try WorkerThread(name: "test-waiter") { [done] in
            sections.waitForReaders()
            done.set()
        }
        Self.letOthersRun()
    }

    var isDone: Bool { done.isSet }
    func join() { thread.join() }

    /// Long enough for a thread that is ready to come to where it waits; if not, the test finds less.
    static func letOthersRun() { for _ in 0..<100 { ThreadStripe.pause() } }
}

final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// What tells writers when readers have gone.
private protocol Sections: Sendable {
    associatedtype Ticket
    func enter() -> Ticket
    func leave(_ ticket: Ticket)
    func waitForReaders()
}

extension ReaderEpochs: Sections {}

private struct NoSections: Sections {
    func enter() {}
    func leave(_ ticket: Void) {}
    func waitForReaders() {}
}

/// Readers use the place that is named; writers name another, wait, and make the old one useless.
private final class PlaceGame<Used: Sections>: Sendable {
    private let sections: Used
    private let current = Atomic<Int>(0)
    private let next = Atomic<Int>(1)
    private let useless: [Flag]
    private let stops = Flag()
    let mistakes = Atomic<Int>(0)

    init(_ sections: Used, places: Int) {
        self.sections = sections
        useless = (0..<places).map { _ in Flag() }
    }

    func play(readers: Int, writers: Int) throws {
        let readers = try (0..<readers).map { _ in try WorkerThread(name: "test-reader") { self.read() } }
        let writers = try (0..<writers).map { _ in try WorkerThread(name: "test-writer") { self.write() } }
        for writer in writers { writer.join() }
        stops.set()
        for reader in readers { reader.join() }
    }

    private func read() {
        while !stops.isSet {
            let ticket = sections.enter()
            let place = current.load(ordering: .acquiring)
            for _ in 0..<50 where useless[place].isSet { mistakes.add(1, ordering: .relaxed) }
            sections.leave(ticket)
        }
    }

    private func write() {
        while true {
            let place = next.add(1, ordering: .relaxed).oldValue
            guard place < useless.count else { return }
            let old = current.exchange(place, ordering: .sequentiallyConsistent)
            sections.waitForReaders()
            useless[old].set()
        }
    }
}
