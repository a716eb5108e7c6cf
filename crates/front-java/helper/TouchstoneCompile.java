package com.sun.tools.javac.jvm;

import com.sun.source.tree.*;
import com.sun.source.util.*;
import com.sun.tools.javac.api.JavacTool;
import com.sun.tools.javac.code.Type;
import com.sun.tools.javac.code.TypeTag;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.tree.TreeInfo;
import com.sun.tools.javac.util.Context;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import javax.tools.*;

/**
 * Compiles the user's source with the user's compiler, and records its decisions, conditions and statements with the offsets of
 * their code. One record a line, with fields separated by tabs:
 *
 *   U file                                                    the file of the following records
 *   D number kind line column endLine endColumn tree text      a decision; its tree refers to conditions by number
 *   C decision number position line column endLine endColumn text
 *   S position line column endLine endColumn text              a statement
 *   X position kind line column endLine endColumn             a switch
 *   N position reason                                          the reason for which a jump of this tree is not a condition
 *   J, T, W file class method descriptor at position opcode    the offset of a condition, statement or switch
 *   R file class method descriptor at reason 0                 the offset of a jump without a condition, with the reason
 */
public final class TouchstoneCompile {
    private static PrintWriter out;

    /**
     * Compiles. The arguments are "marks" and those of {@link #runWithMarks}, or "plain", the sources as a path, and options. Returns 1 if
     * the compiler rejects the sources; its errors are printed.
     */
    public static int run(String[] args) throws Exception {
        String[] rest = Arrays.copyOfRange(args, 1, args.length);
        return (args[0].equals("marks") ? runWithMarks(rest) : runPlain(rest)) ? 0 : 1;
    }

    /** Prints errors. */
    private static final class Errors implements DiagnosticListener<JavaFileObject> {
        boolean found;

        @Override
        public void report(Diagnostic<? extends JavaFileObject> diagnostic) {
            if (diagnostic.getKind() == Diagnostic.Kind.ERROR) {
                found = true;
                System.err.println(diagnostic);
            }
        }
    }

    /** Compiles without records. */
    private static boolean runPlain(String[] args) throws IOException {
        JavacTool tool = JavacTool.create();
        Errors errors = new Errors();
        List<String> options = Arrays.asList(args).subList(1, args.length);
        try (StandardJavaFileManager manager = tool.getStandardFileManager(errors, null, StandardCharsets.UTF_8)) {
            Iterable<? extends JavaFileObject> files = manager.getJavaFileObjects(args[0].split(File.pathSeparator));
            return tool.getTask(new PrintWriter(System.err), manager, errors, options, null, files).call();
        }
    }

    /**
     * Compiles with records. The arguments are the file of records, the directory of classes, class path, source path, release, the module of
     * the JDK that the sources belong to with its directory, the class path of annotation processors ("processors" for that of the program, or
     * nothing if none run), and the sources.
     */
    private static boolean runWithMarks(String[] args) throws Exception {
        List<String> options = new ArrayList<>(List.of("-g", "-nowarn", "-encoding", "UTF-8", "-d", args[1]));
        if (args[6].isEmpty()) {
            options.add("-proc:none");
        } else if (Runtime.version().feature() >= 21) {
            // Before, it is the default.
            options.add("-proc:full");
        }
        if (!args[6].isEmpty() && !args[6].equals("processors")) {
            options.addAll(List.of("-processorpath", args[6]));
        }
        options.addAll(List.of("-cp", args[2]));
        if (!args[3].isEmpty()) {
            options.addAll(List.of("-sourcepath", args[3]));
        }
        if (!args[4].isEmpty()) {
            options.addAll(List.of("-source", args[4], "-target", args[4]));
        }
        if (!args[5].isEmpty()) {
            // As in the JDK's own build: other forms of concatenation need classes that are initialised later.
            options.addAll(List.of("--patch-module", args[5], "-XDstringConcat=inline"));
        }
        List<String> files = Arrays.asList(args).subList(7, args.length);
        JavacTool tool = JavacTool.create();
        Errors errors = new Errors();
        OutputStream file = new BufferedOutputStream(new FileOutputStream(args[0]));
        try (PrintWriter records = new PrintWriter(new OutputStreamWriter(file, StandardCharsets.UTF_8));
             StandardJavaFileManager manager = tool.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            out = records;
            Context context = new Context();
            TouchstoneGen.install(context, out);
            JavacTask task = (JavacTask) tool.getTask(new PrintWriter(System.err), manager, errors, options, null,
                manager.getJavaFileObjectsFromStrings(files), context);
            List<CompilationUnitTree> units = new ArrayList<>();
            for (CompilationUnitTree unit : task.parse()) {
                units.add(unit);
            }
            task.analyze();
            if (!errors.found) {
                for (CompilationUnitTree unit : units) {
                    out.println("U\t" + unit.getSourceFile().getName());
                    new Scanner(unit, Trees.instance(task).getSourcePositions()).scan(unit, null);
                }
                task.generate();
            }
        }
        return !errors.found;
    }

    /** Records the decisions, statements and switches of a compilation unit. */
    private static final class Scanner extends TreeScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final LineMap lines;
        private final CharSequence source;
        /** Subtrees of decisions that were recorded. */
        private final Set<Tree> recorded = Collections.newSetFromMap(new IdentityHashMap<>());
        private boolean asserting;
        private int decisions;
        private int conditions;
        private List<String> leaves = new ArrayList<>();

        Scanner(CompilationUnitTree unit, SourcePositions positions) throws IOException {
            this.unit = unit;
            this.positions = positions;
            this.lines = unit.getLineMap();
            this.source = unit.getSourceFile().getCharContent(true);
        }

        private String range(Tree tree) {
            long start = positions.getStartPosition(unit, tree);
            long end = Math.max(start, positions.getEndPosition(unit, tree));
            return position(start) + "\t" + position(end);
        }

        /** Returns the column in characters; the compiler counts a tab as eight. */
        private String position(long position) {
            long line = lines.getLineNumber(position);
            return line + "\t" + (position - lines.getStartPosition(line) + 1);
        }

        private boolean hasText(Tree tree) {
            return positions.getEndPosition(unit, tree) > positions.getStartPosition(unit, tree);
        }

        private String text(Tree tree) {
            int start = (int) positions.getStartPosition(unit, tree);
            int end = (int) positions.getEndPosition(unit, tree);
            if (start < 0 || end < start) {
                return tree.toString().replaceAll("\\s+", " ");
            }
            return source.subSequence(start, end).toString().replaceAll("\\s+", " ").trim();
        }

        private static boolean isBoolean(Tree tree) {
            Type type = ((JCTree) tree).type;
            return type != null && type.hasTag(TypeTag.BOOLEAN);
        }

        private static Tree skip(Tree tree) {
            return TouchstoneGen.skipParens((JCTree) tree);
        }

        /** Records a decision, unless it is part of another one. */
        private void decision(Tree given, String kind) {
            Tree tree = given == null ? null : skip(given);
            if (tree == null || recorded.contains(tree)) {
                return;
            }
            conditions = 0;
            leaves = new ArrayList<>();
            int number = decisions++;
            String shape = shape(tree, number);
            out.println("D\t" + number + "\t" + kind + "\t" + range(tree) + "\t" + shape + "\t" + text(tree));
            leaves.forEach(out::println);
        }

        /** Returns the tree of a decision in prefix notation: & | ! ? numbers, + and - for constants. */
        private String shape(Tree given, int decision) {
            Tree tree = skip(given);
            recorded.add(tree);
            Object constant = ((JCTree) tree).type == null ? null : ((JCTree) tree).type.constValue();
            if (constant instanceof Integer) {
                return ((Integer) constant) != 0 ? "+" : "-";
            }
            switch (tree.getKind()) {
                case CONDITIONAL_AND:
                case CONDITIONAL_OR: {
                    BinaryTree both = (BinaryTree) tree;
                    String left = shape(both.getLeftOperand(), decision);
                    String right = shape(both.getRightOperand(), decision);
                    return (tree.getKind() == Tree.Kind.CONDITIONAL_AND ? "& " : "| ") + left + " " + right;
                }
                case LOGICAL_COMPLEMENT:
                    return "! " + shape(((UnaryTree) tree).getExpression(), decision);
                case CONDITIONAL_EXPRESSION:
                    if (isBoolean(tree)) {
                        ConditionalExpressionTree choice = (ConditionalExpressionTree) tree;
                        String condition = shape(choice.getCondition(), decision);
                        String yes = shape(choice.getTrueExpression(), decision);
                        String no = shape(choice.getFalseExpression(), decision);
                        return "? " + condition + " " + yes + " " + no;
                    }
                    break;
                default:
                    break;
            }
            int number = conditions++;
            leaves.add("C\t" + decision + "\t" + number + "\t" + position(tree) + "\t" + range(tree) + "\t" + text(tree));
            return Integer.toString(number);
        }

        /** Returns the position of a condition's code: for `x instanceof T t`, that of the pattern. */
        private static int position(Tree tree) {
            if (tree.getKind() == Tree.Kind.INSTANCE_OF) {
                try {
                    // Compilers before 16 have no patterns.
                    Object pattern = InstanceOfTree.class.getMethod("getPattern").invoke(tree);
                    if (pattern != null) {
                        return ((JCTree) pattern).pos;
                    }
                } catch (ReflectiveOperationException e) {
                    return ((JCTree) tree).pos;
                }
            }
            return ((JCTree) tree).pos;
        }

        /** Marks a tree and its operands as recorded, so that they are not decisions of their own. */
        private void mark(Tree given) {
            Tree tree = skip(given);
            recorded.add(tree);
            if (tree instanceof BinaryTree) {
                mark(((BinaryTree) tree).getLeftOperand());
                mark(((BinaryTree) tree).getRightOperand());
            } else if (tree instanceof UnaryTree) {
                mark(((UnaryTree) tree).getExpression());
            }
        }

        @Override
        public Void scan(Tree tree, Void unused) {
            if (tree != null && tree.getKind().name().equals("BINDING_PATTERN")) {
                // Declarations in it are not statements.
                return null;
            }
            if (tree != null) {
                reason(tree);
            }
            if (tree instanceof StatementTree) {
                switch (tree.getKind()) {
                    // The compiler treats it as a statement, at whose position the missing default of a switch is generated.
                    case CASE:
                    case BLOCK:
                    case LABELED_STATEMENT:
                    case EMPTY_STATEMENT:
                    case CLASS:
                    case INTERFACE:
                    case ENUM:
                    case ANNOTATION_TYPE:
                        break;
                    default:
                        // Implicit members have no text.
                        if (!tree.getKind().name().equals("RECORD") && hasText(tree)) {
                            out.println("S\t" + ((JCTree) tree).pos + "\t" + range(tree) + "\t" + headOf(tree));
                        }
                        break;
                }
            }
            return super.scan(tree, unused);
        }

        /** Records the reason for which the compiler's jumps for a tree are not conditions. */
        private void reason(Tree tree) {
            String kind = tree.getKind().name();
            if (asserting) {
                none(tree, "assert");
            } else if (tree instanceof ClassTree) {
                // The position is that of the modifiers.
                out.println("N\t" + positions.getStartPosition(unit, tree) + "\twhether asserts are on");
            } else if (tree instanceof CaseTree || kind.startsWith("SWITCH") || kind.equals("CONSTANT_CASE_LABEL")) {
                none(tree, "switch");
            } else if (tree instanceof TryTree) {
                none(tree, "try with resources");
                // The check for a resource to close has the position of the block's end.
                int end = TreeInfo.endPos((JCTree) ((TryTree) tree).getBlock());
                out.println("N\t" + end + "\ttry with resources");
                ((TryTree) tree).getResources().forEach(resource -> none(resource, "try with resources"));
            } else if (kind.endsWith("_PATTERN")) {
                none(tree, "pattern");
            } else if (tree instanceof ExpressionTree && isBoolean(tree) && !recorded.contains(tree)) {
                none(tree, "a value that nothing is decided by");
            }
        }

        private void none(Tree tree, String reason) {
            out.println("N\t" + ((JCTree) tree).pos + "\t" + reason);
        }

        /** Returns the text of a statement without nested ones. */
        private String headOf(Tree tree) {
            String text = text(tree);
            switch (tree.getKind()) {
                case IF: return "if " + text(((IfTree) tree).getCondition());
                case WHILE_LOOP: return "while " + text(((WhileLoopTree) tree).getCondition());
                case DO_WHILE_LOOP: return "do while " + text(((DoWhileLoopTree) tree).getCondition());
                case TRY: return "try";
                case SYNCHRONIZED: return "synchronized " + text(((SynchronizedTree) tree).getExpression());
                case SWITCH: return "switch " + text(((SwitchTree) tree).getExpression());
                case FOR_LOOP:
                case ENHANCED_FOR_LOOP: {
                    int brace = text.indexOf('{');
                    return brace > 0 ? text.substring(0, brace).trim() : text;
                }
                default: return text.length() > 100 ? text.substring(0, 97) + "..." : text;
            }
        }

        @Override
        public Void visitIf(IfTree tree, Void unused) {
            decision(tree.getCondition(), "if");
            return super.visitIf(tree, unused);
        }

        /** Records the guard of a case ({@code when}). Compilers before 21 have no guards. */
        @Override
        public Void visitCase(CaseTree tree, Void unused) {
            try {
                Tree guard = (Tree) CaseTree.class.getMethod("getGuard").invoke(tree);
                if (guard != null) {
                    decision(guard, "if");
                }
            } catch (ReflectiveOperationException e) {
                // The compiler has no guards.
            }
            return super.visitCase(tree, unused);
        }

        @Override
        public Void visitWhileLoop(WhileLoopTree tree, Void unused) {
            decision(tree.getCondition(), "while");
            return super.visitWhileLoop(tree, unused);
        }

        @Override
        public Void visitDoWhileLoop(DoWhileLoopTree tree, Void unused) {
            decision(tree.getCondition(), "do");
            return super.visitDoWhileLoop(tree, unused);
        }

        @Override
        public Void visitForLoop(ForLoopTree tree, Void unused) {
            TouchstoneGen.LOOPS.add(TouchstoneGen.loop(unit.getSourceFile().getName(), ((JCTree) tree).pos));
            decision(tree.getCondition(), "for");
            return super.visitForLoop(tree, unused);
        }

        @Override
        public Void visitAssert(AssertTree tree, Void unused) {
            // The JVM decides whether assertions are enabled.
            mark(tree.getCondition());
            boolean before = asserting;
            asserting = true;
            none(tree, "assert");
            super.visitAssert(tree, unused);
            asserting = before;
            return null;
        }

        @Override
        public Void visitConditionalExpression(ConditionalExpressionTree tree, Void unused) {
            if (!recorded.contains(tree)) {
                decision(tree.getCondition(), "ternary");
            }
            return super.visitConditionalExpression(tree, unused);
        }

        @Override
        public Void visitBinary(BinaryTree tree, Void unused) {
            if (tree.getKind() == Tree.Kind.CONDITIONAL_AND || tree.getKind() == Tree.Kind.CONDITIONAL_OR) {
                decision(tree, "value");
            }
            return super.visitBinary(tree, unused);
        }

        @Override
        public Void visitUnary(UnaryTree tree, Void unused) {
            if (tree.getKind() == Tree.Kind.LOGICAL_COMPLEMENT) {
                decision(tree, "value");
            }
            return super.visitUnary(tree, unused);
        }

        @Override
        public Void visitSwitch(SwitchTree tree, Void unused) {
            selector(tree, tree.getExpression());
            return super.visitSwitch(tree, unused);
        }

        @Override
        public Void visitSwitchExpression(SwitchExpressionTree tree, Void unused) {
            selector(tree, tree.getExpression());
            return super.visitSwitchExpression(tree, unused);
        }

        private void selector(Tree tree, Tree expression) {
            Type type = ((JCTree) skip(expression)).type;
            boolean number = type != null && type.isPrimitive();
            out.println("X\t" + ((JCTree) tree).pos + "\t" + (number ? "number" : "other") + "\t" + range(tree));
        }
    }
}
