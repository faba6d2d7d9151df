import TestSupport

/// docs/format.md. This file stands as deep in the tree as that type wants its caller to.
func formatPage() throws -> FormatPage { try FormatPage() }

/// Where the page is, for the test that may write its example.
let formatPagePath: String = {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    return root.joined(separator: "/") + "/docs/format.md"
}()
