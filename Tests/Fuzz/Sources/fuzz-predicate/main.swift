import FuzzDriver
import FuzzedInputs

fuzz { _ = FuzzBodies.predicate($0) }
