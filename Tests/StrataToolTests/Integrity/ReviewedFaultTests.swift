import Foundation
import StrataModel
import StrataStore
import StrataSystem
import Testing

@testable import StrataTool

/// What a review of the commands found.
@Suite struct ReviewedFaultTests {
    /// The views are no information: whatever frame of them is damaged, commands print what they print without damage.
    @Test func `A frame that is damaged costs time and nothing else`() throws {
        let fixture = try StateFixture()
        try fixture.change { try fixture.saveMany(60, bytes: 100, to: $0) }
        let questions = [
            ["records", fixture.name, "--user", "anna", "--json"], ["zones", fixture.name], ["users", fixture.name],
            ["export", fixture.name, "--records"],
            ["get", fixture.name, "milk", "many-59", "--user", "anna", "--zone", "Notes"],
        ]
        let answers = try questions.map { try fixture.run($0) }
        let directory = fixture.path + "/views"
        var count = 0
        for name in try RealFileSystem().list(directory) where name.hasSuffix(".run") {
            let file = try RealFileSystem().open("\(directory)/\(name)", .write)
            defer { file.close() }
            for place in stride(from: 100, to: try file.size(), by: 16_384) {
                let byte = try file.read(count: 1, at: place)[0]
                try file.write([byte ^ 0x10], at: place)
                count += 1
                for (question, answer) in zip(questions, answers) {
                    let result = try fixture.run(question)
                    #expect(result.code == 0 && result.errors.isEmpty, "\(place), \(question): \(result.errors)")
                    #expect(result.output == answer.output, "\(place), \(question)")
                }
                try file.write([byte], at: place)
            }
        }
        #expect(count > 8)
    }

    /// Swift takes texts for equal that a store tells apart.
    @Test func `Names are the same only if their bytes are`() throws {
        let fixture = try StateFixture()
        let (composed, combining) = (ZoneID("caf\u{E9}"), ZoneID("cafe\u{301}"))
        try fixture.change { store in
            try fixture.step { try store.modify(.zones(saving: [composed, combining]), as: StateFixture.phone) }
            for name in ["one", "other"] { try fixture.save(name, zone: composed, to: store) }
            for name in ["two", "three"] { try fixture.save(name, zone: combining, to: store) }
        }
        for (zone, records) in [(composed, ["one", "other"]), (combining, ["three", "two"])] {
            let exported = try fixture.run("export", fixture.name, "--records", "--zone", zone.name)
            let found = try exported.lines.compactMap {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            #expect(found.compactMap { $0["record"] as? String } == records)
            let commits = try fixture.run("export", fixture.name, "--zone", zone.name)
            // The zone's own, and one for each record; around them a header and an end.
            #expect(commits.lines.count == 5, "\(commits.output)")
            let numbers = try fixture.objects("stats", fixture.name, "--zone", zone.name)
            #expect((numbers.first?["zones"] as? [Any])?.count == 1)
        }
    }

    /// No event of the record tells that it went with its zone.
    @Test(arguments: ["views", "log alone", "made again"])
    func `A record is gone when its zone is`(ground: String) throws {
        let fixture = try StateFixture()
        let query = [fixture.name, "milk", "--user", "anna", "--zone", "Notes"]
        #expect(try fixture.run(["blame"] + query).code == 0)
        let versions = try fixture.objects(["history"] + query).count
        try fixture.change { store in
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.notes]), as: StateFixture.phone) }
            guard ground == "made again" else { return }
            try fixture.step { try store.modify(.zones(saving: [StateFixture.notes]), as: StateFixture.phone) }
            try fixture.save("list", to: store)
        }
        if ground == "log alone" { try FileManager.default.removeItem(atPath: fixture.path + "/views") }
        let deletion = StateFixture.end + 1
        let blame = try fixture.run(["blame"] + query)
        #expect(blame.code == 1 && blame.output.isEmpty, "\(blame.output)")
        #expect(blame.errors.contains("was deleted with its zone by commit \(deletion)"))
        let history = try fixture.objects(["history"] + query)
        #expect(history.count == versions + 1)
        #expect(history.last?["change"] as? String == "zoneDeleted")
        #expect(history.last?["offset"] as? UInt64 == deletion)
        #expect(try fixture.objects(["history"] + query + ["-n", "1"]).count == 2)
        // What was deleted by itself had gone before.
        let gone = try fixture.objects("history", fixture.name, "gone", "--user", "anna", "--zone", "Notes")
        #expect(gone.last?["change"] as? String == "delete")
        // Who is in another zone, or has been saved since, is there.
        guard ground == "made again" else { return }
        #expect(try fixture.run("blame", fixture.name, "list", "--user", "anna", "--zone", "Notes").code == 0)
    }
}
