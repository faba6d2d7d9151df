import Foundation
import StrataSystem
import Testing

@testable import StrataTool

/// What each command prints of a store that is always the same.
@Suite struct SnapshotTests {
    /// Pages of HTML are not compared: their own tests look at what is in them. Bytes in full would be long.
    private static let lines = CommandLines.all.filter { !["report", "dump"].contains($0.command) }

    @Test(arguments: lines) func printsWhatItDid(_ line: CommandLines.Line) throws {
        let fixture = try StateFixture()
        let completed = try EveryCommandTests.completed(line, fixture)
        for form in completed.forms {
            let result = try fixture.run(form)
            #expect(result.code == line.code && result.errors.isEmpty, "\(form): \(result.errors)")
            let options = form.filter { $0.hasPrefix("--") && $0 != "--user" && $0 != "--zone" }
            let name = ([line.command] + options.map { String($0.dropFirst(2)) }).joined(separator: "-") + ".txt"
            if Golden.isUpdated {
                try Golden.update(name, result.output)
            } else {
                let golden = try String(contentsOfFile: Golden.path(name), encoding: .utf8)
                #expect(result.output == golden, "\(form), Golden/\(name)")
            }
        }
    }

    @Test func canaryAnotherTextIsNoticed() throws {
        let golden = try String(contentsOfFile: Golden.path("zones.txt"), encoding: .utf8)
        let fixture = try StateFixture()
        try fixture.change { try fixture.save("one more", to: $0) }
        #expect(try fixture.run("zones", fixture.name).output != golden)
    }
}
