import FuzzDriver

// A bug behind three nested comparisons, which only a fuzzer that is led by coverage finds in reasonable time.
fuzz { input in
    guard input.count >= 3, input[0] == UInt8(ascii: "s") else { return }
    guard input[1] == UInt8(ascii: "i") else { return }
    precondition(input[2] != UInt8(ascii: "n"), "the canary sings")
}
