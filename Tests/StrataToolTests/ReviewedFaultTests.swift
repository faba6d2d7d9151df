import Foundation
import StrataModel
import StrataStore
import StrataSystem
import Testing

@testable import StrataTool

/// What a review of the commands found.
@Suite struct ReviewedFaultTests {
    /// The page file is no information: whatever page of it is damaged, commands print what they print without damage.
    @Test func `A page that is damaged costs time and nothing else`() throws {
        let fixture = try StateFixture()
        try fixture.change { try fixture.saveMany(60, bytes: 100, to: $0) }
        let questions = [
            ["records", fixture.name, "--user", "anna", "--json"], ["zones", fixture.name], ["users", fixture.name],
            ["export", fixture.name, "--records"],
            ["get", fixture.name, "milk", "many-59", "--user", "anna", "--zone", "Notes"],
        ]
        let answers = try questions.map { try fixture.run($0) }
        let path = fixture.path + "/views"
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let pages = (2..<whole.count / 4_096).filter { page in
            whole[page * 4_096..<(page + 1) * 4_096].contains { $0 != 0 }
        }
        #expect(pages.count > 8)
        for page in pages {
            var damaged = whole
            damaged[page * 4_096 + 100] ^= 0x10
            try damaged.write(to: URL(fileURLWithPath: path))
            for (question, answer) in zip(questions, answers) {
                let result = try fixture.run(question)
                #expect(result.code == 0 && result.errors.isEmpty, "page \(page), \(question): \(result.errors)")
                #expect(result.output == answer.output, "page \(page), \(question)")
            }
        }
    }
}
