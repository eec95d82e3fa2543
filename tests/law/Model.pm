package Model;

# Model - what a workflow means, plain and slow: the reference for the law.
#
#     my $wrong = Model::compare($made, $played);   # undef: they agree
#
# It knows the tree as the author wrote it and replays the decisions that
# drivers, operators and the clock made (see play.sql), one after another, on
# objects in memory. It shares nothing with the workspace: no tables of moves,
# no counters, no queue. What it yields is compared with how the workspace
# stands: each process that has begun, its state and attempt, the names bound
# in each scope, the kind of each failure, when each retry is due, the instances'
# states, results, outputs and tags. After each step it compares which tasks have a
# place in their group, and for what the others wait.
#
# A process is {path, node, kind, state, parent, children, frame, own, …}.
# frame is where its expressions read; own is what its children read.
# A world is all instances and groups; what is between two looks of the law at
# the workspace is one window of it: in which order things happen there is open.

use strict;
use warnings;
use JSON::PP;
use List::Util qw(max min);

my $json = JSON::PP->new->canonical->allow_nonref;

my %TERMINAL = map { $_ => 1 } qw(END RAISED ABORTED);
my %MACHINE  = ('t.Do' => 'sync', 't.Plain' => 'sync', 't.Job' => 'async', 't.Bare' => 'async', 't.Named' => 'async', 't.Sleep' => 'wait', 't.Signal' => 'wait', 't.Start' => 'child', 't.Await' => 'child', 't.Input' => 'wait', 't.Callback' => 'wait', 't.Fail' => 'wait');
my %SECONDS  = (PT1S => 1, PT2S => 2, PT3S => 3, PT25S => 25, PT40S => 40);
my $ATTEMPTS = 3;    # polls, cancels and cleanups that may fail in a row
my $LOSS_LIMIT;      # drivers that may die in a row with a request
my $WINDOW;          # elements of a forall that run at once at most, whatever its max
my %REPLAY = (take => \&taken, report => \&reported, verb => \&operated, lost => \&lost, answer => \&answered);
my %OUTSIDE = (token => \&token_made, callback => \&called_back, progress => \&progressed, schedule => \&set_schedule, hold => \&hold_schedule, 'go on' => \&free_schedule);
my $SCHEDULE_LATE = 60;    # seconds
our $HERE;           # the number of the instance in which an expression is evaluated

# ---- expressions: the value, or die "input: …"

sub is_number { return defined $_[0] && !ref $_[0] && $json->encode($_[0]) =~ /^-?\d/ }
sub is_bool   { return JSON::PP::is_bool($_[0]) }
sub is_list   { return ref $_[0] eq 'ARRAY' }
sub is_object { return ref $_[0] eq 'HASH' }
sub same      { return $json->encode($_[0]) eq $json->encode($_[1]) }
sub bool      { return $_[0] ? JSON::PP::true : JSON::PP::false }
sub failed    { die "input: $_[0]\n" }

sub look_up {
    my ($frame, $name) = @_;
    for (; $frame; $frame = $frame->{outer}) {
        return $frame->{names}{$name} if exists $frame->{names}{$name};
    }
    return undef;
}

# Whether a task or call reads a name that was skipped with all that reads it.
sub reads_skipped {
    my ($p) = @_;
    for my $name (map { keys %{ $_->{reads} // {} } } $p->{node}, $p->{node}{kind} eq 'atomic' ? @{ $p->{node}{steps} } : ()) {
        for (my $frame = $p->{frame}; $frame; $frame = $frame->{outer}) {
            next unless exists $frame->{names}{$name};
            return 1 if $frame->{skipped}{$name};
            last;
        }
    }
    return 0;
}

# The names that a node binds around it.
sub bound_by {
    my ($node) = @_;
    my @names = ($node->{as} // (), ($node->{yield} // {})->{as} // (), map { $_->{as} } @{ $node->{collect} // [] });
    return @names if $node->{kind} =~ /^(call|forall|while|repeat|fold)$/;
    return (@names, map { bound_by($_) } map({ @{ $node->{$_} // [] } } qw(steps branches catches)), grep { $_ } @$node{qw(then else body finally)});
}

# It was skipped with all that reads it.
sub leave_unbound {
    my ($p) = @_;
    my $frame = $p->{frame} or return;
    for my $name (grep { !exists $frame->{names}{$_} || $frame->{forgotten}{$_} } bound_by($p->{node})) {
        $frame->{names}{$name}   = undef;
        $frame->{skipped}{$name} = 1;
    }
    return;
}

sub truth {
    my ($value) = @_;
    failed('no boolean') unless is_bool($value);
    return $value ? 1 : 0;
}

sub evaluate {
    my ($e, $frame) = @_;
    return { map { $_ => evaluate($e->{$_}, $frame) } sort keys %$e } if is_object($e);
    return $e unless is_list($e);
    my ($op, @part) = @$e;
    return $part[0] if $op eq 'const';
    return look_up($frame, $part[0]) if $op eq 'var';
    return $HERE if $op eq 'instance';
    return evaluate($part[ truth(evaluate($part[0], $frame)) ? 1 : 2 ], $frame) if $op eq 'if';
    if ($op eq 'coalesce') {
        for (@part) {
            my $value = evaluate($_, $frame);
            return $value if defined $value;
        }
        return undef;
    }
    my @value = map { evaluate($_, $frame) } @part;
    return \@value if $op eq 'list';
    return bool(same(@value)) if $op eq 'eq';
    return bool(!truth($value[0])) if $op eq 'not';
    if ($op eq 'get') {
        return undef unless defined $value[0];
        failed('no object') unless is_object($value[0]);
        return $value[0]{ $value[1] };
    }
    if ($op eq 'text') {
        return join '', map { !defined || is_list($_) || is_object($_) ? failed('no text') : is_bool($_) ? $_ ? 'true' : 'false' : $_ } @value;
    }
    is_number($_) or failed('no number') for @value;
    return $value[0] + $value[1] if $op eq 'add';
    return bool($value[0] < $value[1]) if $op eq 'lt';
    return [ $value[0] .. $value[1] ] if $op eq 'range';
    die "the model does not know $op\n";
}

# ---- the tree unfolds

sub begin {
    my ($m, $node, $parent, $ordinal, $index, $names, $sees) = @_;
    if ($parent && torn($parent) && $node->{kind} !~ /^(finally|undo)$/) {
        settle($parent);
        return;
    }
    my $name = defined $index ? "$ordinal\[$index]" : $ordinal;
    my $path = $parent ? "$parent->{path}/$name#" . ++$parent->{rounds}{$name} : 'root';
    my $around = $sees ? $sees->{frame} : $names ? { outer => $parent->{own}, names => {%$names} } : $parent ? $parent->{own} : undef;
    my $p = {
        path => $path, ordinal => $ordinal, node => $node, parent => $parent, attempt => 1, retry_from => 1, children => [], index => $index, m => $m,
        born => $m->{world}{window}, kind => $node->{kind} eq 'task' ? $MACHINE{ $node->{type} } : $node->{kind} eq 'atomic' ? 'sync' : $node->{kind}, frame => $around
    };
    $p->{sees}  = $sees   if $sees;
    $p->{scope} = $around if $names;
    $p->{limits} = constant_limits($p);
    $p->{own} = $p->{kind} eq 'call' ? ($p->{scope} = { names => {} }) : $around;
    push @{ $parent->{children} }, $p if $parent;
    $m->{root} = $p unless $parent;
    $m->{processes}{$path} = $p;
    local $m->{level} = ($m->{level} // 0) + 1;
    enter($p);
    break_down($m) if $m->{level} == 1;
    return $p;
}

# What could not be evaluated fails when everything has begun that begins with it; the
# innermost level comes first.
sub break_down {
    my ($m) = @_;
    my $broken = delete $m->{broken} or return;
    local $m->{level} = 0;
    fails($_->[1], 'input') for sort { $b->[0] <=> $a->[0] } @$broken;
    return;
}

sub type { return $_[0]{node}{type} // '' }

sub leaf { return $_[0]{kind} =~ /^(sync|async|wait|child)$/ }

sub is_loop { return $_[0]{kind} =~ /^(while|repeat|fold)$/ }

# Evaluates what it needs; what cannot be evaluated waits for an operator.
sub enter {
    my ($p) = @_;
    my $node = $p->{node};
    if (my $last = delete $p->{last}) {    # a loop goes on with its last round
        $p->{state} = 'ACTIVE';
        return close_round($p, $last);
    }
    if ($p->{parent} && (leaf($p) || $p->{kind} eq 'call') && reads_skipped($p)) {
        leave_unbound($p);
        warns($p);
        return ended($p, 'cascade');
    }
    my $ready = eval { leaf($p) ? prepare_leaf($p) : prepare_composite($p); 1 };
    if (!$ready) {
        die $@ unless $@ =~ /^input:/;
        $p->{unprepared} = 1;
        return fails($p, 'input') unless $p->{m}{level};
        push @{ $p->{m}{broken} }, [ $p->{m}{level}, $p ];
        return;
    }
    $p->{unprepared} = 0;
    if (leaf($p)) {
        queue($p);
        return;
    }
    forget_notes($p);
    $p->{state} = 'ACTIVE';
    unfold($p);
    return;
}

# Whether it is a block, call or workflow with a policy retry.
sub has_rounds { my ($p) = @_; return !leaf($p) && defined(($p->{node}{policies} // {})->{retry}) }

# Where its policies read: around it, or, of the root, its parameters.
sub policy_frame { my ($p) = @_; return $p->{parent} ? $p->{frame} : $p->{scope} }

# Another round: what it needs was evaluated already; what was bound in it is null.
sub next_round {
    my ($p) = @_;
    delete $p->{warned};
    return enter($p) if $p->{unprepared};
    for my $name (grep { exists $p->{own}{names}{$_} } map { bound_by($_) } @{ $p->{node}{steps} }) {
        $p->{own}{names}{$name}    = undef;
        $p->{own}{forgotten}{$name} = 1;
        delete $p->{own}{skipped}{$name};
    }
    $p->{state} = 'ACTIVE';
    return unfold($p);
}

# An operator has it done once more after its deadline.
sub begin_anew {
    my ($p) = @_;
    forget_notes($p);
    return next_round($p);
}

sub prepare_leaf {
    my ($p) = @_;
    my $node = $p->{node};
    local $HERE = $p->{m}{number};
    $p->{args} = evaluate($node->{args}, $p->{frame}) if $node->{args};
    $p->{calls} = [ map { evaluate($_->{args}, $p->{frame}) } @{ $node->{steps} } ] if $node->{kind} eq 'atomic';
    my $policies = $node->{policies} // {};
    if ($policies->{group}) {
        my $name = evaluate($policies->{group}{name}, $p->{frame});
        failed('no name') unless defined $name && length $name;
        my $max = evaluate($policies->{group}{max} // [ 'const', undef ], $p->{frame});
        failed('no max') if defined $max && !(is_number($max) && $max >= 1);
        @$p{qw(group group_max)} = ($name, $max);
    }
    if (exists $policies->{queue}) {
        my $queue = evaluate($policies->{queue}, $p->{frame});
        failed('no queue') if !defined $queue || ref $queue || is_number($queue);
    }
    if (exists $policies->{priority}) {
        my $priority = evaluate($policies->{priority}, $p->{frame});
        failed('no priority') if defined $priority && !is_number($priority);
        $p->{priority} = $priority;
    }
    $p->{retry} = retry_values($policies->{retry}, $p->{frame}) if $policies->{retry};
    $p->{limits} = limit_values($policies->{timeout}, $p->{frame}) if $policies->{timeout};
    return;
}

# The limits of a policy timeout in seconds.
sub limit_values {
    my ($policy, $frame) = @_;
    my %limits = map { $_ => evaluate($policy->{$_}, $frame) } keys %$policy;
    return { map { $_ => $SECONDS{ $limits{$_} } // failed('no limit') } grep { defined $limits{$_} } keys %limits };
}

# Those are known of what could not be prepared, too.
sub constant_limits {
    my ($p) = @_;
    my $policy = ($p->{node}{policies} // {})->{timeout} or return undef;
    return (grep { ref } values %$policy) ? undef : limit_values($policy);
}

sub retry_values {
    my ($policy, $frame) = @_;
    my %retry = (delay => 'PT0S', backoff => 1, jitter => 0, map { $_ => evaluate($policy->{$_}, $frame) } grep { $_ ne 'when' } keys %$policy);
    my $attempts = $retry{attempts};
    failed('no number of attempts') unless is_number($attempts) && ($attempts == -1 || $attempts >= 1);
    if (defined $retry{on}) {
        $retry{on} = [ $retry{on} ] unless is_list($retry{on});
        failed('no kinds') if grep { ref || !defined || is_number($_) || is_bool($_) } @{ $retry{on} };
    }
    $retry{$_} = $SECONDS{ $retry{$_} } // 0 for grep { $retry{$_} } qw(delay max_delay);
    return \%retry;
}

sub prepare_composite {
    my ($p) = @_;
    my ($node, $kind) = ($p->{node}, $p->{kind});
    if ($kind eq 'call') {
        $p->{scope}{names} = $p->{parent} ? evaluate($node->{args} // {}, $p->{frame}) : { %{ $p->{m}{params} } };
    }
    elsif ($kind eq 'let' || $kind eq 'return') { $p->{value} = evaluate($node->{value}, $p->{frame}) }
    elsif ($kind eq 'if') { $p->{branch} = truth(evaluate($node->{condition}, $p->{frame})) ? 'then' : 'else' }
    elsif ($kind eq 'switch') {
        my ($value, @cases) = @{ evaluate($node->{on}, $p->{frame}) };
        my @having = grep { grep { same($_, $value) } @{ $cases[$_] } } 0 .. $#cases;
        $p->{branch} = @having ? $having[0] : @cases;
        failed('no case') unless $node->{branches}[ $p->{branch} ];
    }
    elsif (is_loop($p)) { first_round($p) }
    elsif ($kind eq 'forall') {
        $p->{items} = evaluate($node->{in}, $p->{frame});
        failed('no list') unless is_list($p->{items});
        $p->{max} = undef;
        if (exists $node->{max}) {
            $p->{max} = evaluate($node->{max}, $p->{frame});
            failed('no max') unless is_number($p->{max}) && $p->{max} >= 1;
        }
        my $spare = $node->{tolerate};
        $p->{spare} = defined $spare && $spare =~ /^(\d+)%$/ ? int($1 * @{ $p->{items} } / 100) : $spare;
    }
    $p->{retry} = retry_values($node->{policies}{retry}, policy_frame($p)) if has_rounds($p);
    $p->{limits} = limit_values($node->{policies}{timeout}, policy_frame($p)) if ($node->{policies} // {})->{timeout};
    return;
}

sub unfold {
    my ($p) = @_;
    my ($node, $kind, $m) = ($p->{node}, $p->{kind}, $p->{m});
    return ended($p, 'end') if $kind eq 'checkpoint';
    if ($kind eq 'let')    { $p->{output} = $p->{value}; $p->{has_output} = 1; return ended($p, 'end') }
    if ($kind eq 'return') { $p->{output} = $p->{value}; $p->{has_output} = 1; return ended($p, 'return') }
    if ($kind eq 'seq' || $kind eq 'call') {
        return @{ $node->{steps} } ? begin($m, $node->{steps}[0], $p, 1) : ended($p, 'end');
    }
    if ($kind eq 'if') {
        return $node->{ $p->{branch} } ? begin($m, $node->{ $p->{branch} }, $p, $p->{branch} eq 'then' ? 1 : 2) : ended($p, 'end');
    }
    $p->{cleans} = 1 if $node->{finally};
    return begin($m, $node->{body}, $p, 1) if $kind =~ /^(try|catch|finally)$/;
    return begin($m, $node->{body}, $p, 1, undef, {}) if $kind eq 'undo';
    if ($kind eq 'switch') { return begin($m, $node->{branches}[ $p->{branch} ], $p, $p->{branch} + 1) }
    if ($kind eq 'par') {
        my @branches = @{ $node->{branches} };
        $p->{to_come} = @branches;
        for my $k (0 .. $#branches) {
            $p->{to_come}--;
            begin($m, $branches[$k], $p, $k + 1);
        }
        return;
    }
    if ($kind eq 'race') {
        my @branches = @{ $node->{branches} };
        @$p{qw(spare to_come)} = (@branches - 1, scalar @branches);
        for my $k (0 .. $#branches) {
            $p->{to_come}--;
            begin($m, $branches[$k], $p, $k + 1, undef, {});
        }
        return;
    }
    if (is_loop($p)) {
        return begin_round($p) if $p->{again};
        @$p{qw(output has_output)} = ($p->{value}, 1);
        return ended($p, 'end');
    }
    if ($kind eq 'dag') {
        $p->{waits} = { map { $_ => 1 } 1 .. @{ $node->{branches} } };
        return begin_freed($p);
    }
    $p->{results} = [];
    $p->{next} = 0;
    return ended($p, 'end') unless @{ $p->{items} };
    fill($p);
    return;
}

# The steps of a dag begin for which all has ended that they come after.
sub begin_freed {
    my ($p) = @_;
    my ($branches, $after) = @{ $p->{node} }{qw(branches after)};
    my @freed = grep { my $k = $_; !grep { !$p->{over}{$_} } @{ $after->[ $k - 1 ] } } sort { $a <=> $b } keys %{ $p->{waits} };
    delete @{ $p->{waits} }{@freed};
    $p->{to_come} += @freed;
    for my $k (@freed) {
        $p->{to_come}--;
        begin($p->{m}, $branches->[ $k - 1 ], $p, $k);
    }
    return;
}

# The first state of a loop, how many rounds it may have, and whether it has any.
sub first_round {
    my ($p) = @_;
    my ($node, $kind) = ($p->{node}, $p->{kind});
    $p->{next} = 0;
    if ($kind eq 'fold') {
        @$p{qw(value items)} = @{ evaluate($node->{over}, $p->{own}) };
        failed('no list') unless is_list($p->{items});
        $p->{total} = @{ $p->{items} };
        $p->{again} = $p->{total} > 0;
        return;
    }
    $p->{value} = evaluate($node->{start}, $p->{own}) if $kind eq 'while';
    $p->{total} = evaluate($node->{max}, $p->{own});
    failed('no max') unless is_number($p->{total}) && $p->{total} >= 1;
    $p->{again} = $kind eq 'repeat' || holds($p, $p->{value});
    return;
}

# The condition of a while, which sees the state and what is around the loop.
sub holds {
    my ($p, $value) = @_;
    return truth(evaluate($p->{node}{while}, { outer => $p->{own}, names => { $p->{node}{name} => $value } }));
}

# Where nothing in the body can wait, a round is no process, unless something in it
# or after it is an error.
sub begin_round {
    my ($p) = @_;
    my ($node, $kind) = @$p{qw(node kind)};
    while (1) {
        my $index = $p->{next}++;
        my %names;
        $names{ $node->{name} } = $p->{value} if $kind ne 'repeat';
        $names{ $node->{element} } = $p->{items}[$index] if $kind eq 'fold';
        my $scope = { outer => $p->{own}, names => {%names} };
        my ($value, $again);
        my $good = is_light($node->{body}) && eval {
            run_light($node->{body}, $scope);
            ($value, $again) = after_round($p, $scope);
            1;
        };
        die $@ if !$good && $@ && $@ !~ /^input:/;
        return begin($p->{m}, $node->{body}, $p, 1, $index, \%names) if !$good || $again && is_last($p);
        $p->{value} = $value;
        return end_loop($p) if !$again || $p->{next} >= $p->{total};
    }
}

sub is_last { my ($p) = @_; return $p->{next} >= $p->{total} && $p->{kind} ne 'fold' }

sub parts { my ($node) = @_; return (@{ $node->{steps} // [] }, @{ $node->{branches} // [] }, grep { $_ } @$node{qw(then else)}) }

sub is_light {
    my ($node) = @_;
    return $node->{kind} =~ /^(let|seq|par|if|switch)$/ && !$node->{policies} && !$node->{undo} && !grep { !is_light($_) } parts($node);
}

sub run_light {
    my ($node, $scope) = @_;
    my $kind = $node->{kind};
    if ($kind eq 'let') { $scope->{names}{ $node->{as} } = evaluate($node->{value}, $scope) }
    elsif ($kind eq 'if') {
        my $branch = $node->{ truth(evaluate($node->{condition}, $scope)) ? 'then' : 'else' };
        run_light($branch, $scope) if $branch;
    }
    elsif ($kind eq 'switch') {
        my ($value, @cases) = @{ evaluate($node->{on}, $scope) };
        my ($k) = grep { grep { same($_, $value) } @{ $cases[$_] } } 0 .. $#cases;
        run_light($node->{branches}[ $k // @cases ] // failed('no case'), $scope);
    }
    else { run_light($_, $scope) for parts($node) }
    return;
}

# When a round has ended: its yield is the next state, and there is another round, or none.
sub after_round {
    my ($p, $scope) = @_;
    my ($node, $kind, $again) = (@$p{qw(node kind)}, 1);
    $again = !truth(evaluate($node->{until}, $scope)) if $kind eq 'repeat';
    my $value = $node->{yield} && !($kind eq 'repeat' && $again) ? evaluate($node->{yield}{value}, $scope) : undef;
    $again = holds($p, $value) if $kind eq 'while';
    return ($value, $again);
}

sub close_round {
    my ($p, $round) = @_;
    my ($value, $again);
    my $good = eval { ($value, $again) = after_round($p, $round->{scope}); 1 };
    die $@ if !$good && $@ !~ /^input:/;
    if (!$good || $again && is_last($p)) {
        $p->{last} = $round;
        return fails($p, $good ? 'limit' : 'input');
    }
    $p->{value} = $value;
    return $again && $p->{next} < $p->{total} ? begin_round($p) : end_loop($p);
}

sub end_loop {
    my ($p) = @_;
    @$p{qw(output has_output)} = ($p->{value}, 1) if $p->{node}{yield};
    return ended($p, 'end');
}

sub open_children { return grep { !$TERMINAL{ $_->{state} // 'BEGINS' } } @{ $_[0]{children} } }

# Begins as many elements as may run at once.
sub fill {
    my ($p) = @_;
    while ($p->{next} < @{ $p->{items} } && open_children($p) < min($p->{max} // $WINDOW, $WINDOW)) {
        my $index = $p->{next}++;
        my %names = ($p->{node}{name} => $p->{items}[$index]);
        $names{ $p->{node}{index} } = $index if $p->{node}{index};
        begin($p->{m}, $p->{node}{body}, $p, 1, $index, \%names);
    }
    return;
}

# ---- processes end

sub bind_name {
    my ($p, $name, $value) = @_;
    $p->{frame}{names}{$name} = $value;
    delete $p->{frame}{$_}{$name} for qw(skipped forgotten);
    return;
}

sub ended {
    my ($p, $how) = @_;
    my ($node, $parent, $m) = ($p->{node}, $p->{parent}, $p->{m});
    $p->{state} = 'END';
    note_ended($p, $how);
    return wins($p) if $parent && $parent->{kind} eq 'race';
    if (delete $p->{warned}) { $parent ? warns($parent) : ($m->{warned} = 1) }
    bind_name($p, $node->{as}, $p->{output}) if $node->{as} && $p->{has_output} && $p->{kind} =~ /^(sync|async|wait|child|call|let)$/;
    bind_name($p, $node->{yield}{as}, $p->{output}) if $node->{yield} && $p->{has_output} && $how ne 'return';
    if ($node->{kind} eq 'atomic' && $p->{has_output} && is_object($p->{output})) {
        bind_name($p, $_, $p->{output}{$_}) for grep { exists $p->{output}{$_} } map { $_->{as} // () } @{ $node->{steps} };
    }
    if ($p->{kind} eq 'forall' && $how eq 'end') {
        for my $k (0 .. $#{ $node->{collect} // [] }) {
            bind_name($p, $node->{collect}[$k]{as}, [ map { ($p->{results}[$_] // {})->{value}[$k] } 0 .. $#{ $p->{items} // [] } ]);
        }
    }
    if (!$parent) {
        return if $m->{state} !~ /^(RUNNING|SUSPENDED)$/;
        @$m{qw(state result)} = ('END', $m->{warned} ? 'warning' : 'success');
        $m->{output} = $p->{output};
        return;
    }
    if ($parent->{kind} eq 'forall' && defined $p->{index} && $parent->{node}{collect}) {
        my $values = eval { [ map { evaluate($_->{value}, $p->{scope}) } @{ $parent->{node}{collect} } ] };
        die $@ if !$values && $@ !~ /^input:/;
        $parent->{results}[ $p->{index} ] = $values ? { value => $values } : { error => 1 };
    }
    return settle($parent) if torn($parent);
    if ($parent->{cleans} || $p->{kind} eq 'finally') {
        @$parent{qw(output has_output)} = ($p->{output}, 1) if $how eq 'return';
        return $parent->{cleans} ? clean($parent) : ended($parent, $parent->{has_output} ? 'return' : 'end');
    }
    if ($how eq 'return') {
        @$parent{qw(output has_output)} = ($p->{output}, 1);
        return ended($parent, $parent->{kind} eq 'call' ? 'end' : 'return');
    }
    return close_round($parent, $p) if is_loop($parent);
    if ($parent->{kind} eq 'seq' || $parent->{kind} eq 'call') {
        my ($ordinal) = $p->{path} =~ m{/(\d+)#\d+$};
        if (my $next = $parent->{node}{steps}[$ordinal]) {
            begin($m, $next, $parent, $ordinal + 1);
            return;
        }
    }
    if ($parent->{kind} eq 'dag') {
        $parent->{over}{ $p->{ordinal} } = 1;
        begin_freed($parent);
    }
    return counted($parent);
}

# A branch of a race has ended. If others do at the same moment, the workspace says which has won.
sub wins {
    my ($p) = @_;
    my ($race, $m) = @$p{qw(parent m)};
    return settle($race) if torn($race);
    my ($winner) = sort grep { ($m->{theirs}{$_} // '') eq 'END' } map { "$race->{path}/$_#1" } 1 .. @{ $race->{node}{branches} };
    return if defined $winner && $winner ne $p->{path};
    warns($race) if delete $p->{warned};
    for my $name (keys %{ $p->{scope}{names} }) {
        bind_name($race, $name, $p->{scope}{names}{$name});
        $race->{frame}{skipped}{$name} = 1 if $p->{scope}{skipped}{$name};
    }
    push @{ $race->{given_up} }, $m->{world}{window};
    $m->{world}{loose} = 1;
    @$race{qw(state then won)} = ('ABORTING', 'won', $p);
    stop($_) for @{ $race->{children} };
    return settle($race);
}

# Another child of a composite has ended, or is given up and has stopped.
sub counted {
    my ($p) = @_;
    return fill($p) if $p->{kind} eq 'forall' && $p->{next} < @{ $p->{items} } && ($p->{spare} // 0) >= 0;
    return if $p->{to_come} || open_children($p);
    return if $TERMINAL{ $p->{state} } || $p->{kind} eq 'race';
    return fails($p, $p->{last_kind}) if $p->{kind} eq 'forall' && ($p->{spare} // 0) < 0;
    return fails($p, 'input') if $p->{kind} eq 'forall' && grep { $_ && $_->{error} } @{ $p->{results} };
    return ended($p, 'end');
}

# ---- leaves

sub queue {
    my ($p) = @_;
    move_to($p, 'INIT');
    if ($p->{kind} eq 'child') {
        $p->{state} = 'WAITING';
        delete $p->{child};
        return;
    }
    return unless $p->{kind} eq 'wait';
    return fails($p, 'failed') if type($p) eq 't.Fail';
    return awaits($p) if type($p) =~ /Signal|Callback/;
    return asks_people($p) if type($p) eq 't.Input';
    my $seconds = $SECONDS{ $p->{args}{duration} // '' };
    return fails($p, 'input') unless defined $seconds;
    $p->{state} = 'WAITING';
    $p->{due}   = $p->{m}{now} + $seconds * 1e6;
    return;
}

# It takes a signal that has come before, unless somebody else waits for that one (take_early). A callback is
# one that only a token can send.
sub awaits {
    my ($p) = @_;
    return fails($p, 'input') unless defined $p->{args}{name};
    $p->{state} = 'WAITING';
    @$p{qw(awaits since)} = ((type($p) eq 't.Callback' ? 'callback ' : 'signal ') . $p->{args}{name}, $p->{m}{now});
    push @{ $p->{m}{world}{early} }, $p;
    return;
}

# Of waits that begin at one moment the one whose process is the oldest takes a signal first.
sub take_early {
    my ($world) = @_;
    while (@{ $world->{early} // [] }) {
        my ($p, @others) = sort { age($a) <=> age($b) } @{ $world->{early} };
        $world->{early} = \@others;
        take_signal($p->{m}, $p->{awaits});
    }
}

# One without a number was given up before it began.
sub age { my ($p) = @_; return number($p) || 'inf' }

# The longest wait takes the oldest signal, if there is one of each.
sub take_signal {
    my ($m, $name) = @_;
    my ($p) = sort { $a->{since} <=> $b->{since} || age($a) <=> age($b) } grep { defined $_->{awaits} && $_->{awaits} eq $name && $_->{state} eq 'WAITING' } values %{ $m->{processes} };
    return 0 unless $p && @{ $m->{kept}{$name} // [] };
    @$p{qw(output has_output)} = (shift @{ $m->{kept}{$name} }, 1);
    touch($p);
    ended($p, 'end');
    return 1;
}

# ---- what is asked outside: forms, and callbacks

sub asks_people {
    my ($p) = @_;
    my $form = read_form($p->{args}{form});
    return fails($p, 'input') unless $form && length $p->{args}{title};
    $p->{state} = 'WAITING';
    push @{ $p->{asked} }, { form => $form };
    return;
}

# The fields of a form, with what is required; undef: it is none.
sub read_form {
    my ($form) = @_;
    return undef unless is_object($form) && %$form;
    my $fields = is_object($form->{properties}) ? $form->{properties} : $form;
    return undef if grep { !is_object($_) || ($_->{type} // '') !~ /^(string|integer|number|boolean|array)$/ } values %$fields;
    return { fields => $fields, required => $fields == $form ? [ grep { !exists $fields->{$_}{default} } keys %$fields ] : $form->{required} // [] };
}

sub is_text { return defined $_[0] && !ref $_[0] && !is_number($_[0]) }

my %FITS = (
    string  => sub { my ($f, $v) = @_; return is_text($v) && length $v >= ($f->{minLength} // 0) && length $v <= ($f->{maxLength} // 1e9) },
    number  => sub { my ($f, $v) = @_; return is_number($v) && $v >= ($f->{minimum} // -1e9) && $v <= ($f->{maximum} // 1e9) },
    boolean => sub { my ($f, $v) = @_; return is_bool($v) },
    array   => sub { my ($f, $v) = @_; return is_list($v) && !grep { !fits($f->{items}, $_) } @$v }
);
$FITS{integer} = sub { my ($f, $v) = @_; return $FITS{number}->($f, $v) && $v == int $v };

sub fits {
    my ($field, $value) = @_;
    return 0 if $field->{enum} && !grep { same($_, $value) } @{ $field->{enum} };
    return $FITS{ $field->{type} }->($field, $value);
}

# The answer with the defaults of what was left out; undef: the form refuses it.
sub filled_in {
    my ($form, $payload) = @_;
    return undef unless is_object($payload);
    my $fields = $form->{fields};
    my %answer = ((map { $_ => $fields->{$_}{default} } grep { exists $fields->{$_}{default} } keys %$fields), %$payload);
    return undef if grep { !exists $answer{$_} } @{ $form->{required} };
    return undef if grep { !$fields->{$_} || !fits($fields->{$_}, $answer{$_}) } keys %answer;
    return \%answer;
}

# A form is answered once, and while its task waits for this one; the task goes on when the work is done.
sub answered {
    my ($p, $data) = @_;
    my $asked = ($p->{asked} // [])->[ $data->{n} - 1 ] or return "has not asked form $data->{n}";
    my $waits = $p->{state} eq 'WAITING' && $data->{n} == @{ $p->{asked} };
    my $output = filled_in($asked->{form}, $data->{payload});
    my $answer = $asked->{answer} || !$waits ? 'WF004' : $output ? 'done' : 'WF002';
    return "form $data->{n} is open or not" if (!$asked->{answer} && $waits) != ($data->{open} ? 1 : 0);
    return "form $data->{n} was found to fit or not" if defined $output != ($data->{fits} ? 1 : 0);
    return "form $data->{n} was answered $data->{answer}, not $answer" if $data->{answer} ne $answer;
    return undef if $answer ne 'done';
    return "form $data->{n} has the answer " . $json->encode($data->{output}) . ', not ' . $json->encode($output) unless same($output, $data->{output});
    $asked->{answer} = $output;
    return undef;
}

# A newer token for the same takes the place of the former one.
sub token_made {
    my ($world, $data, $m) = @_;
    my $answer = $m->{state} =~ /^(END|ABORTED)$/ ? 'WF004' : 'done';
    return "a token was made: $data->{answer}, not $answer" if $data->{answer} ne $answer;
    $m->{callbacks}{ $data->{name} } = { k => $data->{k}, name => $data->{name}, m => $m } if $answer eq 'done';
    return undef;
}

sub token {
    my ($world, $k) = @_;
    return (grep { defined $k && $_->{k} == $k } map { values %{ $_->{callbacks} // {} } } values %{ $world->{instances} })[0];
}

# What a token is refused for.
sub refusal {
    my ($token) = @_;
    return !$token ? 'WF003' : !$token->{used} && $token->{m}{state} =~ /^(END|ABORTED)$/ ? 'WF004' : undef;
}

# It is kept until the work is done, or a wait begins that takes it.
sub called_back {
    my ($world, $data) = @_;
    my $token = token($world, $data->{k});
    my $answer = refusal($token) // (!$token->{used} ? 'accepted' : same($token->{payload}, $data->{payload}) ? 'known' : 'WF004');
    return "callback $data->{k} was answered $data->{answer}, not $answer" if $data->{answer} ne $answer;
    return undef if $answer ne 'accepted';
    @$token{qw(used payload)} = (1, $data->{payload});
    push @{ $token->{m}{kept}{"callback $token->{name}"} }, { payload => $data->{payload}, sender => $data->{sender}, at => moment($token->{m}{now}) };
    return undef;
}

sub progressed {
    my ($world, $data) = @_;
    my $token = token($world, $data->{k});
    my $answer = refusal($token) // ($token->{used} ? 'WF004' : 'done');
    return "progress of $data->{k} was answered $data->{answer}, not $answer" if $data->{answer} ne $answer;
    $token->{progress} = $data->{payload} if $answer eq 'done';
    return undef;
}

# A time in microseconds as values have it.
sub moment {
    my ($now) = @_;
    my ($second, $minute, $hour, $day, $month, $year) = gmtime int $now / 1e6;
    my $fraction = sprintf '.%06d', $now % 1e6;
    $fraction =~ s/\.?0+$//;
    return sprintf '%04d-%02d-%02dT%02d:%02d:%02d%sZ', $year + 1900, $month + 1, $day, $hour, $minute, $second, $fraction;
}

# The work is done that answers and callbacks have left. All answers together end their waits.
sub take_answers {
    my ($world) = @_;
    my @p = grep { $_->{asked} && $_->{state} eq 'WAITING' && $_->{asked}[-1]{answer} } all_processes($world);
    for my $p (sort { number($a) <=> number($b) } @p) {
        next if $p->{state} ne 'WAITING';
        @$p{qw(output has_output)} = ($p->{asked}[-1]{answer}, 1);
        touch($p);
        ended($p, 'end');
    }
    return undef;
}

sub take_callbacks {
    my ($world) = @_;
    for my $m (map { $world->{instances}{$_} } sort { $a <=> $b } keys %{ $world->{instances} }) {
        for my $name (sort grep { /^callback / } keys %{ $m->{kept} // {} }) {
            1 while take_signal($m, $name);
        }
    }
    return undef;
}

sub work_done {
    my ($world, $kind, $now) = @_;
    return fire_schedules($world, $now) if $kind eq 'schedule';
    return fire_next($world, $now) if $kind eq 'successor';
    replace($world) if $kind eq 'abort';
    return take_answers($world) if $kind eq 'input';
    return take_callbacks($world) if $kind eq 'signal';
    return tend_children($world, $kind) if $kind;
    return take_answers($world) // take_callbacks($world) // tend_children($world, '') // replace($world) // fire_next($world, $now) // schedule_forgotten($world, $now);
}

# What one instance does to another: tasks start theirs, and see how those have ended; those of tasks
# that are to stop are aborted. It is done when somebody does the work that is left for it.
sub tend_children {
    my ($world, $kind) = @_;
    for (1 .. 100) {
        my @tasks = sort { number($a) <=> number($b) || $a->{path} cmp $b->{path} } grep { $_->{kind} eq 'child' && $_->{state} =~ /^(WAITING|CANCEL_REQUESTED|ABORT_REQUESTED)$/ } all_processes($world);
        my @new = grep { !$_->{child} && $_->{state} eq 'WAITING' && $_->{m}{state} ne 'SUSPENDED' } @tasks;
        my @over = grep { is_over($_) } @tasks;
        my @stopped = grep { $_->{child} && type($_) eq 't.Start' && $_->{state} ne 'WAITING' && $_->{child}{state} =~ /^(RUNNING|SUSPENDED)$/ } @tasks;
        @new = @over = () if $kind && $kind ne 'child';
        @stopped = () if $kind && $kind eq 'child';
        return undef unless @new || @over || @stopped;
        touch($_) for @new, @over;
        for (in_groups(@new)) {
            my $wrong = type($_) eq 't.Await' ? find_awaited($_) : start_child($_);
            return $wrong if defined $wrong;
        }
        push @over, grep { is_over($_) } @new;
        abort_instance($_->{child}, 0) for @stopped;
        # what goes on comes before what fails
        $_->{state} eq 'WAITING' && accepted($_) and child_ended($_, $_->{child}{result}, $_->{child}{output}) for @over;
        for (grep { !$TERMINAL{ $_->{state} } } @over) {
            next unless $_->{state} =~ /^(WAITING|CANCEL_REQUESTED|ABORT_REQUESTED)$/;
            $_->{state} eq 'WAITING' ? fails($_, 'child') : cancelled($_);
        }
        return undef if $kind;
    }
    return 'children start children without end';
}

# What it waits for has ended, or it is to stop and has nothing to stop.
sub is_over {
    my ($p) = @_;
    return $p->{child}{state} =~ /^(END|ABORTED)$/ if $p->{child} && ($p->{state} eq 'WAITING' || type($p) eq 't.Start');
    return $p->{state} =~ /^(CANCEL|ABORT)_REQUESTED$/;
}

# Those that start instances of one workflow do so together.
sub in_groups {
    my (@p) = @_;
    my %first;
    my %group = map { ($_->{path} . $_->{m}{number}) => type($_) eq 't.Await' ? number($_) : join ' ', map { $_ // '' } $_->{args}{workflow}, $_->{args}{detached} ? 1 : 0, @{ $_->{m} }{qw(priority depth)} } @p;
    for my $p (@p) {
        my $group = $group{ $p->{path} . $p->{m}{number} };
        $first{$group} = number($p) if !defined $first{$group} || $first{$group} > number($p);
        $p->{turn_to_start} = \$first{$group};
    }
    return sort { ${ $a->{turn_to_start} } <=> ${ $b->{turn_to_start} } || number($a) <=> number($b) } @p;
}

# It waits for an instance that there is, unless that one waits for it.
sub find_awaited {
    my ($p) = @_;
    return undef if $p->{state} ne 'WAITING';
    my $id = $p->{args}{id};
    my $found = is_number($id) && $id >= 0 && $p->{m}{world}{instances}{$id};
    if    (!$found)                      { fails($p, 'input') }
    elsif (waits_around($found, $p->{m})) { fails($p, 'deadlock') }
    else                                 { @$p{qw(child number_of_child)} = ($found, $id) }
    return undef;
}

# Whether an instance is, or waits for, another one.
sub waits_around {
    my ($from, $m) = @_;
    my (%seen, @todo);
    for (@todo = $from; my $next = shift @todo; ) {
        return 1 if $next == $m;
        next if $seen{ $next->{number} }++;
        push @todo, map { $_->{child} } grep { $_->{child} && $_->{state} =~ /^(WAITING|CANCEL_REQUESTED|ABORT_REQUESTED)$/ } values %{ $next->{processes} };
    }
    return 0;
}

sub accepted { my ($p) = @_; return scalar grep { $_ eq $p->{child}{result} } @{ $p->{args}{accept} } }

sub child_ended {
    my ($p, $result, $output) = @_;
    @$p{qw(output has_output)} = ({ instance => $p->{number_of_child}, result => $result, output => $output }, 1);
    return ended($p, 'end');
}

# The workspace gives the instance its number.
sub start_child {
    my ($p) = @_;
    return undef if $p->{state} ne 'WAITING';    # one that has failed before it may have stopped it
    my $world = $p->{m}{world};
    my $id = shift @{ $world->{born}{"$p->{m}{number} $p->{path}"} // [] };
    return is_given_up($p->{m}, $p->{path}) ? undef : "instance $p->{m}{number}: $p->{path} starts an instance, which there is not" unless defined $id;
    $p->{number_of_child} = $id;
    my $m = begin_instance($world, $id, $p->{args}{workflow}, $p->{args}{params}, $p->{m}{priority}, [], $p->{m}{now}, $p->{m}{depth} + 1);
    return child_ended($p, undef, undef), undef if $p->{args}{detached};
    $p->{child} = $m;
    return undef;
}

sub begin_instance {
    my ($world, $number, $workflow, $params, $priority, $tags, $now, $depth) = @_;
    my $tree = $world->{trees}{$workflow};
    my $m = $world->{instances}{$number} = {
        state => 'RUNNING', now => $now, processes => {}, history => [],
        params => $params, priority => $priority, tags => tags({ params => $params, tags => $tags }, $tree), id => $world->{ids}{$number}, theirs => $world->{states}{$number},
        world => $world, number => $number, depth => $depth // 0
    };
    $m->{root} = begin_root($m, $tree);
    return $m;
}

# ---- schedules

# Its first time is one interval from now.
sub set_schedule {
    my ($world, $data, $m, $now) = @_;
    my $s = $world->{schedules}{ $data->{schedule} } = { %$data, name => $data->{schedule}, every => $data->{every} * 1e6, next => $now + $data->{every} * 1e6, firings => {} };
    return $s->{next} == sprintf('%.0f', $data->{next} * 1e6) ? undef : "schedule $s->{name} begins at another time";
}

sub hold_schedule {
    my ($world, $data, $m, $now) = @_;
    my $s = $world->{schedules}{ $data->{schedule} };
    my $answer = $s->{held} ? 'refused' : 'done';
    return "schedule $s->{name} is paused: $data->{answer}, not $answer" if $data->{answer} ne $answer;
    $s->{held} = 1;
    return undef;
}

# What came while it was paused is missed.
sub free_schedule {
    my ($world, $data, $m, $now) = @_;
    my $s = $world->{schedules}{ $data->{schedule} };
    my $answer = $s->{held} ? 'done' : 'refused';
    return "schedule $s->{name} goes on: $data->{answer}, not $answer" if $data->{answer} ne $answer;
    return undef if $answer ne 'done';
    @$s{qw(held since)} = (0, $now);
    return undef unless defined $s->{next} && $s->{next} <= $now;
    $s->{firings}{ $s->{next} } //= 'missed';
    $s->{next} += $s->{every} while $s->{next} <= $now;
    return undef;
}

# The times that have come, but for those that nothing fired while they could have been.
sub times_due {
    my ($s, $now) = @_;
    my @due;
    for (; $s->{next} <= $now; $s->{next} += $s->{every}) { push @due, $s->{next} }
    my $first = $due[0] // return;
    splice @due, 0, @due - max(1, $s->{catchup}) if @due > max(1, $s->{catchup});
    @due = () if !$s->{catchup} && $due[0] < $now - $SCHEDULE_LATE * 1e6;
    $s->{firings}{$first} //= 'missed' if !@due || $due[0] != $first;
    if (@due >= $s->{count}) {
        $#due = $s->{count} - 1;
        $s->{next} = undef;
    }
    $s->{count} -= @due;
    return @due;
}

sub under_way { my ($s) = @_; return (grep { $_->{state} !~ /^(END|ABORTED)$/ } reverse @{ $s->{started} // [] })[0] }

sub put_off { my ($s) = @_; return sort { $a <=> $b } grep { $s->{firings}{$_} eq 'waiting' } keys %{ $s->{firings} } }

# What becomes of the times that have come is decided before the first of them is started.
sub fire_schedules {
    my ($world, $now) = @_;
    for my $s (map { $world->{schedules}{$_} } sort keys %{ $world->{schedules} // {} }) {
        next if $world->{paused} || $s->{held} || !defined $s->{next} || $s->{next} > $now;
        my @due = times_due($s, $now);
        my @put_off = put_off($s); # sort says nothing where a truth is wanted
        my $free = !under_way($s) && !@put_off;
        my @begin = $s->{overlap} eq 'allow' ? @due : $free ? shift @due // () : ();
        for (@begin) {
            my $wrong = fire($world, $s, $_, $now);
            return $wrong if defined $wrong;
        }
        next if $s->{overlap} eq 'allow';
        for my $time (@due) {
            if ($s->{overlap} =~ /^(replace|coalesce)$/) { $s->{firings}{$_} = 'skipped' for put_off($s) }
            push @{ $world->{replaced} }, under_way($s) // () if $s->{overlap} eq 'replace';
            $s->{firings}{$time} = $s->{overlap} eq 'skip' ? 'skipped' : 'waiting';
        }
    }
    return undef;
}

# The workspace gives the instance its number.
sub fire {
    my ($world, $s, $time, $now) = @_;
    my $firing = $world->{fired}{"$s->{name} $time"};
    return "schedule $s->{name} has not fired $time" unless $firing && $firing->{state} eq 'started';
    return "schedule $s->{name} has fired $time at another time" if $firing->{at} != $now;
    $s->{firings}{$time} = 'started';
    push @{ $s->{started} }, begin_instance($world, $firing->{instance}, @$s{qw(workflow params priority)}, [], $now);
    return undef;
}

# What waits begins when the instance before it has ended, one after the other.
sub fire_next {
    my ($world, $now) = @_;
    for my $s (map { $world->{schedules}{$_} } sort keys %{ $world->{schedules} // {} }) {
        next if $world->{paused} || $s->{held} || under_way($s);
        my ($time) = put_off($s) or next;
        next if now_of($world->{fired}{"$s->{name} $time"}) != $now && $now - max($s->{since} // 0, $world->{since} // 0) <= 2e6;
        my $wrong = fire($world, $s, $time, $now);
        return $wrong if defined $wrong;
    }
    return undef;
}

sub now_of { my ($firing) = @_; return $firing && $firing->{state} eq 'started' ? $firing->{at} : 0 }

# A later time of their schedule has come.
sub replace {
    my ($world) = @_;
    abort_instance($_, 0) for @{ delete $world->{replaced} // [] };
    return undef;
}

# After the engine was paused somebody looks at a schedule within a minute.
sub schedule_forgotten {
    my ($world, $now) = @_;
    return undef if $world->{paused};
    my ($s) = grep { !$_->{held} && defined $_->{next} && $_->{next} <= $now && $now - ($world->{since} // -1e9) > 60e6 } values %{ $world->{schedules} // {} };
    return $s ? "schedule $s->{name} has not fired" : undef;
}

# Whether its policy has it wait for another attempt.
sub retried {
    my ($p, $kind) = @_;
    my $policy = ($p->{node}{policies} // {})->{retry} or return 0;
    return 0 if $p->{too_late};
    # of what could not be prepared only constants are known
    my $retry = $p->{unprepared} ? $json->encode({ %$policy, when => undef }) =~ /"var"/ ? return 0 : retry_values($policy) : $p->{retry};
    return 0 unless accepts($p, $retry, $p, $kind);
    wait_for_retry($p, $retry, $p->{m}{now});
    $p->{kind} eq 'async' ? ask_cleanup($p, 'RETRY_CLEANUP_REQUESTED') : move_to($p, 'INIT');
    return 1;
}

# Whether a policy takes the error of a process: its own, or of something in it.
sub accepts {
    my ($p, $retry, $failed, $kind) = @_;
    my $policy = $p->{node}{policies}{retry};
    return 0 if $retry->{attempts} != -1 && $p->{attempt} - $p->{retry_from} + 1 >= $retry->{attempts};
    return 0 unless $retry->{on} ? grep { $_ eq $kind } @{ $retry->{on} } : $kind !~ /^(input|output|cancelled)$/ && ($kind ne 'lost' || idempotent($failed));
    if (exists $policy->{when}) {
        my $error = { kind => $kind, attempt => $failed->{attempt} };
        my $holds = eval { evaluate($policy->{when}, { outer => policy_frame($p), names => { error => $error } }) };
        die $@ if $@ && $@ !~ /^input:/;
        return 0 unless is_bool($holds) && $holds;
    }
    return 1;
}

# It waits for its next attempt or round, from the time on at which it failed.
sub wait_for_retry {
    my ($p, $retry, $failed_at) = @_;
    my $tried = $p->{attempt} - $p->{retry_from} + 1;
    my $delay = $retry->{delay} * $retry->{backoff}**($tried - 1);
    my $most  = $retry->{max_delay} // 1e9;
    $delay = $most if $delay > $most;
    my $factor = 1 + $retry->{jitter} * chance($p);
    $delay = $delay * $factor > $most ? $most / $factor : $delay * $factor;
    $p->{retry_due} = $failed_at + sprintf('%.0f', $delay * 1e6);
    $p->{attempt}++;
    delete @$p{qw(output has_output)};
    push @{ $p->{m}{history} }, "$p->{path} is retried, attempt $p->{attempt}, due $p->{retry_due}";
    return;
}

# What the workspace takes for chance.
sub chance {
    my ($p) = @_;
    # one that only the model has begun is in a body that was given up, which is not compared
    my $id = $p->{m}{id}{ $p->{path} } // return 0;
    return ($id % 1000000 * 618034 + $p->{attempt} * 414214) % 1000000 / 1000000;
}

sub idempotent {
    my ($p) = @_;
    if ($p->{calls}) {
        my @types = map { $_->{type} } @{ $p->{node}{steps} };
        return ($p->{node}{policies} // {})->{idempotent} // !grep { $types[$_] eq 't.Set' && !defined $p->{calls}[$_]{x} } 0 .. $#types;
    }
    # its type says so of those that have an x
    return ($p->{node}{policies} // {})->{idempotent} // (type($p) eq 't.Do' && defined $p->{args}{x});
}

sub move_to {
    my ($p, $state) = @_;
    @$p{qw(failures lost_last)} = (0, 0);
    $p->{state} = $state;
    stand_in_line($p) if $state eq 'INIT' && !defined $p->{retry_due} && leaf($p) && $p->{kind} !~ /^(wait|child)$/;
    return;
}

sub stops { return $_[0]{state} eq 'ABORT_REQUESTED' }

# The request that releases what a task holds outside; without one it moves on.
sub ask_cleanup {
    my ($p, $state) = @_;
    move_to($p, $state);
    cleaned($p) unless $p->{lease} || asks($p);
    return;
}

sub cleaned {
    my ($p) = @_;
    my $state = $p->{state};
    delete $p->{handle};
    if    ($state eq 'CLEANUP_REQUESTED')       { ended($p, 'end') }
    elsif ($state eq 'RETRY_CLEANUP_REQUESTED') { again($p) }
    elsif ($state eq 'RAISE_CLEANUP_REQUESTED') { raised($p) }
    else                                        { aborted($p) }
    return;
}

# Whether there is anything to send: t.Named needs no handle for it.
sub asks { my ($p) = @_; return type($p) eq 't.Named' || type($p) eq 't.Job' && defined $p->{handle} }

sub ask_cancel {
    my ($p, $state) = @_;
    move_to($p, $state);
    cancelled($p) unless $p->{lease} || asks($p);
    return;
}

sub cancelled {
    my ($p) = @_;
    return $p->{kind} eq 'async' ? ask_cleanup($p, 'ABORT_CLEANUP_REQUESTED') : aborted($p) if stops($p);
    return $p->{timed_out} ? fails_by_limit($p) : fails($p, 'cancelled');
}

sub again {
    my ($p) = @_;
    move_to($p, 'INIT');
    return if defined $p->{retry_due};
    return next_round($p) unless leaf($p);
    return $p->{unprepared} ? enter($p) : queue($p);
}

sub succeeded {
    my ($p, $output) = @_;
    return stops($p) ? aborted($p) : (@$p{qw(output has_output)} = ($output, type($p) ne 't.Plain'), ended($p, 'end')) if $p->{kind} eq 'sync';
    return ask_cleanup($p, 'ABORT_CLEANUP_REQUESTED') if stops($p);
    @$p{qw(output has_output)} = ($output, 1);
    return ask_cleanup($p, 'CLEANUP_REQUESTED');
}

sub failure {
    my ($p, $kind) = @_;
    return cancelled($p) if $p->{state} =~ /^(CANCEL|ABORT)_REQUESTED$/;
    return fails($p, $kind);
}

# ---- groups: who has a place, and who is next

# Each time that it begins to wait it gives its group the max of its policy.
sub stand_in_line {
    my ($p) = @_;
    $p->{place} = { turn => turn($p->{m}{now}, stride($p)), has => 0 };
    give_max($p->{m}{world}, $p->{group}, $p->{group_max}) if defined $p->{group} && !$p->{unprepared} && defined $p->{group_max};
    return;
}

sub turn { my ($now, $k) = @_; return $now + $k % 1024 * 100_000 }

# The elements of a forall stand apart, the rounds of a loop do not: by their index, or, further down, by
# how much later the element began than what is around it.
sub stride {
    my ($p) = @_;
    my ($scope, $around) = grep { $_->{scope} } seen_around($p);
    return 0 if $scope && $scope->{parent} && (is_loop($scope->{parent}) || $scope->{parent}{kind} eq 'undo') && $scope->{kind} ne 'call';
    return $p->{index} if defined $p->{index};
    return 0 if !$scope || $scope->{kind} eq 'call' && !defined $scope->{index};
    return (number($scope) - number($around)) % 1024;
}

# It, and what is around it, from the inside outwards.
sub around {
    my ($p) = @_;
    my @around;
    for (; $p; $p = $p->{parent}) { push @around, $p }
    return @around;
}

# The same, but an undo is where it was noted.
sub seen_around {
    my ($p) = @_;
    my @around;
    while ($p) {
        push @around, $p;
        $p = $p->{sees} ? $p->{sees}{kind} eq 'call' ? $p->{sees}{parent} : $p->{sees} : $p->{parent};
    }
    return @around;
}

sub number { my ($p) = @_; return $p->{m}{id}{ $p->{path} } // 0 }

# The last max wins. Of those of one window it may be any.
sub give_max {
    my ($world, $name, $max) = @_;
    my $given = $world->{given}{$name};
    $given = $world->{given}{$name} = { window => $world->{window}, max => [] } unless $given && $given->{window} == $world->{window};
    push @{ $given->{max} }, $max;
    return;
}

sub waits_in_line { my ($p) = @_; return leaf($p) && $p->{state} eq 'INIT' && $p->{kind} !~ /^(wait|child)$/ && !defined $p->{retry_due} }

# A place is held from before the start until nothing is with a driver any more.
sub has_place {
    my ($p) = @_;
    return $p->{place} && $p->{place}{has} && (waits_in_line($p) || $p->{state} =~ /^(START_REQUESTED|EXECUTING|CANCEL_REQUESTED|ABORT_REQUESTED)$/);
}

sub waits_for_group { my ($p) = @_; return waits_in_line($p) && defined $p->{group} && !$p->{place}{has} && $p->{m}{state} ne 'SUSPENDED' }

sub all_processes { my ($world) = @_; return map { values %{ $_->{processes} } } values %{ $world->{instances} } }

sub rank { my ($p) = @_; return -($p->{priority} // $p->{m}{priority}) }

# Grants the free places of each group: by priority, then turn.
sub grant {
    my ($world, $max) = @_;
    for my $name (keys %{ $world->{given} }) {
        my $given = $world->{given}{$name}{max};
        return 'group ' . $name . ' has max ' . $json->encode($max->{$name}) . ', but was given ' . $json->encode($given)
            unless $world->{loose} || grep { same($_, $max->{$name}) } @$given;
        $world->{max}{$name} = $max->{$name};
    }
    if (!$world->{loose}) {
        same($max->{$_}, $world->{max}{$_}) or return "group $_ has another max" for keys %$max;
    }
    @$world{qw(given max loose)} = ({}, $max, 0);
    my (%held, %next);
    for my $p (all_processes($world)) {
        next unless defined $p->{group};
        $held{ $p->{group} }++ if has_place($p);
        push @{ $next{ $p->{group} } }, $p if waits_for_group($p);
    }
    for my $name (keys %next) {
        my @next = sort { rank($a) <=> rank($b) || $a->{place}{turn} <=> $b->{place}{turn} || $a->{m}{number} <=> $b->{m}{number} || number($a) <=> number($b) } @{ $next{$name} };
        my $free = defined $max->{$name} ? $max->{$name} - ($held{$name} // 0) : @next;
        $_->{place}{has} = 1 for splice @next, 0, $free > 0 ? $free : 0;
    }
    return undef;
}

# What is held up keeps its order, but comes after those that are ready by then.
sub suspended { $_->{place}{has} = 0 for grep { waits_in_line($_) } values %{ $_[0]{processes} }; return }

sub resumed {
    my ($m) = @_;
    my $k = 0;
    $_->{place}{turn} = turn($m->{now}, $k++)
        for sort { $a->{place}{turn} <=> $b->{place}{turn} || number($a) <=> number($b) } grep { waits_in_line($_) } values %{ $m->{processes} };
    return;
}

my %REASON = ('t.Signal' => 'signal', 't.Callback' => 'callback', 't.Input' => 'input');

# Why it is not with a driver, as explain says it. When a request is repeated is
# not compared.
sub reason {
    my ($p) = @_;
    my $state = $p->{state};
    return 'request' if $p->{lease};
    return !$p->{child} && $p->{m}{state} eq 'SUSPENDED' ? 'suspended' : 'child' if $p->{kind} eq 'child' && $state =~ /^(WAITING|CANCEL_REQUESTED|ABORT_REQUESTED)$/;
    return $state eq 'FAILED' ? 'failed' : $state eq 'WAITING' ? ($REASON{ type($p) } // 'time') : 'time or none' if $state ne 'INIT';
    return defined $p->{retry_due} ? 'retry' : $p->{m}{state} eq 'SUSPENDED' ? 'suspended' : waits_for_group($p) ? 'group' : '';
}

# In no stretch of time of the length of `per` do more of a rate begin than its limit. When
# each of them may begin is up to the workspace: it may come up to a 64th of that later.
sub spend_rate {
    my ($p) = @_;
    my $rate = ($p->{node}{policies} // {})->{rate} or return;
    my $since = $p->{m}{now} - $SECONDS{ $rate->{per} } * 1e6;
    my $spent = $p->{m}{world}{spent}{ $rate->{name} } //= [];
    @$spent = (grep({ $_ > $since } @$spent), $p->{m}{now});
    return @$spent > $rate->{limit} ? sprintf 'is one of %d of rate %s', scalar @$spent, $rate->{name} : undef;
}

# How every task stands: here, and as the law saw it.
# In an instance that is still torn down tasks may stand that the second pass stops.
sub stand {
    my ($world, $path, $tasks, $torn) = @_;
    my (%mine, %theirs);
    my %torn = map { $_ => 1 } @{ $torn // [] };
    for my $p (grep { leaf($_) && !$TERMINAL{ $_->{state} } } all_processes($world)) {
        $mine{"$p->{m}{number} $p->{path}"} = [ reason($p), has_place($p) ? $p->{group} : undef ];
    }
    for my $task (@$tasks) {
        my ($instance, $process, $reason, $group) = @$task;
        my $key = "$instance $path->{$process}";
        $reason = '' if $reason eq 'rate' && ($world->{instances}{$instance}{processes}{ $path->{$process} }{node}{policies} // {})->{rate};
        $reason = 'time or none' if ($mine{$key} // [''])->[0] eq 'time or none' && $reason =~ /^(time|)$/;
        $theirs{$key} = [ $reason, $group ];
    }
    for my $key (sort keys %{ { %mine, %theirs } }) {
        my ($instance, $path) = split / /, $key;
        next if same($mine{$key}, $theirs{$key}) || $torn{$instance} || is_given_up($world->{instances}{$instance}, $path);
        return sprintf '%s: waits for and has place in: the model says %s, the workspace %s', $key, map { $json->encode($_) } $mine{$key}, $theirs{$key};
    }
    return undef;
}

# ---- an error looks for its handler

# Its own retry comes first, unless nothing has been tried.
sub fails {
    my ($p, $kind, $untried) = @_;
    has_failed($p, $kind);
    return see_to($p, $kind, $untried);
}

sub has_failed {
    my ($p, $kind) = @_;
    move_to($p, 'FAILED');
    delete @$p{qw(too_late timed_out late)};
    $p->{failed_as} = $kind;
    push @{ $p->{m}{history} }, "$p->{path} fails, attempt $p->{attempt}, $kind" if leaf($p);
    return;
}

sub see_to {
    my ($p, $kind, $untried) = @_;
    return stop($p) if $p->{parent} && torn($p->{parent});
    return if !$untried && (leaf($p) || has_rounds($p)) && retried($p, $kind);
    my $own = leaf($p) ? ($p->{node}{policies} // {})->{on_failure} // '' : '';
    return decide($p, $own) if $own =~ /^(pause|skip|skip_all)$/;
    return handled($p) || decide($p, on_failure($p));
}

# That of the nearest node around it, and it itself; none reaches into an undo.
sub on_failure {
    my ($p) = @_;
    for (; $p && $p->{kind} ne 'undo'; $p = $p->{parent}) {
        my $word = ($p->{node}{policies} // {})->{on_failure};
        return $word if defined $word;
    }
    return 'pause';
}

sub decide {
    my ($p, $on_failure) = @_;
    if ($on_failure =~ /^skip/) {
        leave_unbound($p) if $on_failure eq 'skip_all';
        ignored($p);
    }
    elsif ($on_failure =~ /^fail_late/) { @$p{qw(late failed_at)} = ($on_failure, $p->{m}{now}) }
    elsif ($on_failure =~ /^fail/)      { end_by($p, $on_failure eq 'fail_undo') }
    return;
}

sub end_by {
    my ($p, $undoes) = @_;
    end_in_error($p->{m}, $undoes);
    return leave($p);
}

sub end_in_error {
    my ($m, $undoes) = @_;
    push @{ $m->{root}{given_up} }, $m->{world}{window};
    $m->{world}{loose} = 1 if has_branches($m->{root});
    $m->{error} = 1;
    $m->{undoes} = 1 if $undoes;
    return abort_instance($m, 1);
}

# What fails late, if nothing else of the instance can run; what failed last comes first.
sub late {
    my ($m) = @_;
    my @open = grep { !$TERMINAL{ $_->{state} } } values %{ $m->{processes} };
    my @failed = grep { $_->{state} eq 'FAILED' } @open;
    return () if grep { !$_->{late} } @failed;
    return () if grep { $_->{state} ne 'FAILED' && (leaf($_) || $_->{state} eq 'INIT') } @open;
    return sort { $b->{failed_at} <=> $a->{failed_at} || number($b) <=> number($a) } @failed;
}

# What fails in a finally that begins then ends with the others.
sub end_late {
    my ($m) = @_;
    my ($last) = late($m) or return 'ended late, but something can run';
    my $undoes = $last->{late} eq 'fail_late_undo';
    end_in_error($m, $undoes);
    my @left = sort { number($a) <=> number($b) } grep { $_->{state} eq 'FAILED' && $_->{late} } values %{ $m->{processes} };
    for (@left) { end_by($_, $undoes) if $_->{state} eq 'FAILED' }
    return undef;
}

# It goes on as if it had ended, and its name is null.
sub ignored {
    my ($p) = @_;
    warns($p);
    $p->{passed_over} = 1;
    @$p{qw(output has_output)} = (undef, 0);
    return $p->{kind} eq 'async' ? ask_cleanup($p, 'CLEANUP_REQUESTED') : ended($p, 'ignore');
}

# A warning is one of the nearest child of a handler around it, or of a block with a
# retry, and moves outwards when that ends well. One of a finally passes by what is stopped around it.
sub warns {
    my ($p) = @_;
    my $m = $p->{m};
    for (; $p; $p = $p->{parent}) {
        next if $p->{kind} eq 'undo';
        return $p->{warned} = 1 if ($p->{state} // 'ACTIVE') eq 'ACTIVE' && (has_rounds($p) || $p->{parent} && takes($p->{parent}, $p));
    }
    $m->{warned} = 1;
    return;
}

# Whether a process may take the errors of a child.
sub takes {
    my ($p, $child) = @_;
    return $p->{kind} eq 'try' && $child->{ordinal} == 1 || defined $p->{spare};
}

# Whether a catch takes its error; then the catch goes on with it.
sub handled {
    my ($p) = @_;
    my $body = $p;
    for (my $try = $p->{parent}; $try && $body->{kind} ne 'undo'; ($body, $try) = ($try, $try->{parent})) {
        next if torn($try);
        if (has_rounds($try) && accepts($try, $try->{retry}, $p, $p->{failed_as})) {
            $body->{failed_at} = $p->{m}{now};
            hand_over($p, $body, 'again');
            return 1;
        }
        next unless takes($try, $body);
        if ($try->{kind} eq 'race') {
            my $has_left = ($body->{then} // '') eq 'counted';
            next unless $has_left || $try->{spare} > 0;
            $try->{spare}-- unless $has_left;
            hand_over($p, $body, 'counted');
            return 1;
        }
        if ($try->{kind} ne 'try') {
            $try->{last_kind} = $p->{failed_as};
            # what comes out of a finally of one that is given up already takes the place of its error
            if (($body->{then} // '') ne 'counted') {
                warns($try) if $try->{spare} > 0;
                $try->{spare} = $try->{spare} > 0 ? $try->{spare} - 1 : -1;
            }
            hand_over($p, $body, 'counted');
            return 1;
        }
        my @catches = @{ $try->{node}{catches} // [] };
        for my $k (0 .. $#catches) {
            my %error = ($catches[$k]{name} => { attempt => $p->{attempt} });
            next if exists $catches[$k]{when} && !eval { truth(evaluate($catches[$k]{when}, { outer => $try->{own}, names => \%error })) };
            die $@ if $@ && $@ !~ /^input:/;
            @{ $try->{own}{names} }{ keys %error } = values %error;
            hand_over($p, $body, $k);
            return 1;
        }
    }
    return 0;
}

sub hand_over {
    my ($p, $body, $k) = @_;
    push @{ $body->{given_up} }, $p->{m}{world}{window};
    $body->{then} = $k;
    $p->{m}{world}{loose} = 1 if has_branches($body);
    for (my $around = $p; $around != $body; ) {
        $around = $around->{parent};
        $around->{state} = 'ABORTING' if $around->{state} eq 'ACTIVE';
        delete $around->{then} if $around != $body;
    }
    if    ($p->{kind} eq 'async')        { ask_cleanup($p, 'RAISE_CLEANUP_REQUESTED') }
    elsif ($p == $body && next_undo($p)) { $p->{state} = 'ABORTING' }
    else                                 { raised($p) }
    stop($_) for @{ $body->{children} };
    leave($p, $body);
    settle($body);
    return;
}

# Its error leaves the finallys up to that body: what else is in them is stopped.
sub leave {
    my ($p, $body) = @_;
    for (; $p && $p != ($body // 0); $p = $p->{parent}) {
        next unless $p->{kind} =~ /^(finally|undo)$/ && !$TERMINAL{ $p->{state} };
        $p->{state} = 'ABORTING';
        stop($_) for @{ $p->{children} };
        settle($p);
    }
    return;
}

# Whether something around it, or it itself, is stopped. What is around a finally
# does not reach into it.
sub torn {
    my ($p) = @_;
    for (; $p; $p = $p->{parent}) {
        return 1 if $p->{state} =~ /^(ABORTING|ABORTED|RAISED)$/;
        return 0 if $p->{kind} =~ /^(finally|undo)$/;
    }
    return 0;
}

# A composite that is stopped has ended when nothing in it is left, its
# finally has run, and what was noted in it is undone.
sub settle {
    my ($p) = @_;
    return if $p->{state} ne 'ABORTING' || open_children($p) || $p->{to_come};
    return clean($p) if $p->{cleans};
    my $note = next_undo($p);
    my $then = $note ? '' : $p->{then} // '';
    if    ($then eq 'failed') { return fails_by_limit($p) }
    elsif ($then eq 'won')    { delete $p->{then}; return ended($p, 'end') }
    elsif (!$note)            { return aborted($p) }
    $p->{m}{notes} = [ grep { $_ != $note } @{ $p->{m}{notes} } ];
    return begin($p->{m}, $note->{p}{node}{undo}, $p, 'undo:' . number($note->{p}), undef, undef, $note->{p});
}

sub clean {
    my ($p) = @_;
    delete $p->{cleans};
    my $ordinal = 2 + @{ $p->{node}{catches} // [] };
    # whether one that is stopped at the moment at which it begins has begun its body is open
    return settle($p) if torn($p) && $p->{born} == $p->{m}{world}{window} && !defined $p->{m}{id}{"$p->{path}/$ordinal#1"};
    return begin($p->{m}, $p->{node}{finally}, $p, $ordinal);
}

# ---- what has ended well is noted, and undone when it is given up

# What was noted in a block counts no more when that is noted itself, and what was
# noted in an undo when that has ended.
sub note_ended {
    my ($p, $how) = @_;
    forget_notes($p) if $p->{kind} eq 'undo';
    return if !$p->{node}{undo} || $p->{passed_over} || $how eq 'cascade';
    forget_notes($p);
    push @{ $p->{m}{notes} }, { p => $p, window => $p->{m}{world}{window} };
    return;
}

sub is_below { my ($p, $around) = @_; return index($p->{path}, "$around->{path}/") == 0 }

sub forget_notes {
    my ($p) = @_;
    $p->{m}{notes} = [ grep { !is_below($_->{p}, $p) } @{ $p->{m}{notes} // [] } ];
    return;
}

# What is undone next in a process that is stopped. Of what was noted in one window any may
# be the last: the workspace says which.
sub next_undo {
    my ($p) = @_;
    my $m = $p->{m};
    return undef unless $p->{parent} ? ($p->{then} // 'again') !~ /^(again|failed)$/ : $m->{undoes};
    my @notes = reverse grep { is_below($_->{p}, $p) && !of_winner($p, $_->{p}) } @{ $m->{notes} // [] } or return undef;
    my $undone = sub { return $m->{id}{ "$p->{path}/undo:" . number($_[0]{p}) . '#1' } // 1e18 };
    return (sort { $undone->($a) <=> $undone->($b) } grep { $_->{window} == $notes[0]{window} } @notes)[0];
}

sub of_winner { my ($race, $p) = @_; return $race->{won} && ($race->{then} // '') eq 'won' && ($p == $race->{won} || is_below($p, $race->{won})) }

# ---- limits

my %HOLD = (
    INIT => [qw(wait deadline)], FAILED => ['deadline'], CANCEL_REQUESTED => ['deadline'], RETRY_CLEANUP_REQUESTED => ['deadline'],
    map { $_ => [qw(inactivity runtime deadline)] } qw(START_REQUESTED EXECUTING WAITING)
);

# The limits that hold for it in its state.
sub held_limits {
    my ($p) = @_;
    return grep { $_ ne 'wait' || !defined $p->{retry_due} } @{ $HOLD{ $p->{state} } // [] } if leaf($p);
    return $p->{state} =~ /^(INIT|ACTIVE)$/ ? 'deadline' : ();
}

# Clocks begin and end with its states. That of a deadline stands still while a task is FAILED or waits
# for its group; what has failed with no time left has a new one from its next attempt on.
sub keep_time {
    my ($p) = @_;
    return unless $p->{limits};
    my ($clock, $now) = ($p->{clock} //= {}, $p->{m}{now});
    my %held = map { $_ => 1 } grep { $p->{limits}{$_} } held_limits($p);
    delete $clock->{$_} for grep { !$held{$_} } keys %$clock;
    $clock->{$_} //= { due => $now + $p->{limits}{$_} * 1e6 } for keys %held;
    my $deadline = $clock->{deadline} or return;
    my $failed = $p->{state} eq 'FAILED';
    my $stands = $failed || leaf($p) && waits_for_group($p);
    if ($stands) { $deadline->{remains} //= max(0, $deadline->{due} - $now) }
    elsif (defined $deadline->{remains}) { $deadline = $clock->{deadline} = { due => $now + $deadline->{remains} } }
    delete $clock->{deadline} if $failed && $deadline->{remains} <= 0;
    return;
}

# Something has come of it.
sub is_active {
    my ($p) = @_;
    $p->{clock}{inactivity}{due} = $p->{m}{now} + $p->{limits}{inactivity} * 1e6 if $p->{clock}{inactivity};
    return;
}

# A limit that is reached. A microsecond may be lost where it was rounded.
sub first_reached {
    my ($p) = @_;
    my $clock = $p->{clock} // {};
    my @reached = grep { !defined $clock->{$_}{remains} && $clock->{$_}{due} <= $p->{m}{now} + 1 } keys %$clock;
    return (sort { $clock->{$a}{due} <=> $clock->{$b}{due} || $p->{limits}{$a} <=> $p->{limits}{$b} || $a cmp $b } @reached)[0];
}

# Nothing outside has to stop before it fails.
sub fails_at_once { my ($p) = @_; return $p->{state} =~ /^(INIT|WAITING)$/ && !($p->{kind} eq 'child' && $p->{state} eq 'WAITING') }

sub may_time_out {
    my ($p) = @_;
    return $p->{state} =~ /^(INIT|START_REQUESTED|EXECUTING|WAITING)$/ if leaf($p);
    return $p->{state} =~ /^(INIT|ACTIVE)$/ && !torn($p);
}

# Whose time is over at one moment: blocks first. All of a sort have failed, or are about to be stopped,
# before anything follows from that.
sub time_out_together {
    my ($world, $timeouts) = @_;
    for my $leaves (0, 1) {
        my @p = grep { leaf($_->{p}) == $leaves } @$timeouts;
        for (@p) {
            my ($p, $limit) = @$_{qw(p limit)};
            my $reached = first_reached($p) // 'none';
            return "$p->{path} has reached limit $reached, but timed out by $limit" if $reached ne $limit;
            return "$p->{path} timed out in $p->{state}" unless may_time_out($p);
            $p->{timed_out} = $limit;
        }
        my (@waiting, @running);
        push @{ fails_at_once($_) ? \@waiting : \@running }, $_ for map { $_->{p} } @p;
        delete $_->{retry_due}, has_timed_out($_) for @waiting;
        see_to($_, 'timeout') for sort { number($a) <=> number($b) } @waiting;
        $leaves ? begin_cancel($_) : cut($_) for grep { may_time_out($_) } @running;
    }
    return undef;
}

# Nothing that is due is left out, but of a task only one limit at a time: the next attempt of one whose attempt
# took too long may begin before somebody sees that its deadline is over, too.
sub overdue {
    my ($world, @seen) = @_;
    my %seen = map { $_->{p} => 1 } @seen;
    for my $p (grep { !$seen{$_} } all_processes($world)) {
        keep_time($p);
        my $limit = first_reached($p) // next;
        return "$p->{path} has reached limit $limit in $p->{state}, but did not time out" if may_time_out($p) && !is_given_up($p->{m}, $p->{path});
    }
    return undef;
}

# An attempt that ran too long may be tried again, what took too long as a whole may not.
sub has_timed_out {
    my ($p) = @_;
    my $limit = $p->{timed_out};
    has_failed($p, 'timeout');
    $p->{too_late} = 1 if $limit =~ /^(deadline|wait)$/;
    return;
}

sub fails_by_limit {
    my ($p) = @_;
    delete $p->{then};
    has_timed_out($p);
    return see_to($p, 'timeout');
}

# What runs in a block is stopped, and then it fails.
sub cut {
    my ($p) = @_;
    push @{ $p->{cut} }, $p->{m}{world}{window};
    $p->{m}{world}{loose} = 1 if has_branches($p);
    @$p{qw(state then)} = ('ABORTING', 'failed');
    stop($_) for @{ $p->{children} };
    return settle($p);
}

# ---- the end of an instance before its time

sub raised {
    my ($p) = @_;
    my $caught = torn($p) || defined $p->{then};
    $p->{state} = 'RAISED';
    return gone($p) if $caught;
    $p->{m}{error} = 1;
    abort_instance($p->{m}, 1);
    leave($p);
    gone($p) unless $p->{parent};
    return;
}

sub abort_instance {
    my ($m, $error) = @_;
    return if $m->{state} !~ /^(RUNNING|SUSPENDED)$/;
    my $held = $m->{state} eq 'SUSPENDED';
    $m->{state} = 'ABORTING';
    $m->{error} = $error;
    stop($m->{root});
    resumed($m) if $held; # what is in a finally goes on
    return;
}

sub stop {
    my ($p) = @_;
    # what could not be evaluated has yet to fail, and stops then
    my $state = $p->{state} // return;
    return if $TERMINAL{$state} || $p->{kind} =~ /^(finally|undo)$/ && $state ne 'ABORTING';
    delete @$p{qw(retry_due then)};
    if (!leaf($p)) {
        if ($state =~ /^(ACTIVE|ABORTING)$/) {
            $p->{state} = 'ABORTING';
            stop($_) for @{ $p->{children} };
        }
        $p->{state} = 'ABORTING' if $state eq 'FAILED' && next_undo($p);
        aborted($p) if $p->{state} =~ /^(FAILED|INIT)$/;
        settle($p);
    }
    elsif ($state =~ /^(ABORT|RAISE_CLEANUP_REQUESTED)/ && ($p->{m}{state} ne 'ABORTING' || $state =~ /^ABORT/)) { return }
    elsif ($state eq 'INIT' || $p->{kind} eq 'wait' || $p->{kind} =~ /^(sync|child)$/ && $state eq 'FAILED') { aborted($p) }
    # whether one that is stopped at the moment at which it begins has begun is open: only then there is something to stop
    elsif ($p->{kind} eq 'child' && !number($p)) { aborted($p) }
    elsif ($p->{kind} =~ /^(sync|child)$/) { move_to($p, 'ABORT_REQUESTED') }
    elsif ($state eq 'FAILED' || $state =~ /CLEANUP/) { ask_cleanup($p, 'ABORT_CLEANUP_REQUESTED') }
    else {
        delete $p->{lease} if $state eq 'START_REQUESTED';
        ask_cancel($p, 'ABORT_REQUESTED');
    }
    return;
}

sub aborted {
    my ($p) = @_;
    return if $p->{state} eq 'ABORTED';
    $p->{state} = 'ABORTED';
    forget_notes($p) if $p->{kind} eq 'undo';
    return gone($p);
}

# It has been stopped, or has handed its error on.
sub gone {
    my ($p) = @_;
    my ($parent, $m) = @$p{qw(parent m)};
    if (!$parent) {
        @$m{qw(state result)} = ('ABORTED', $m->{error} ? 'error' : 'aborted');
        return;
    }
    my $k = delete $p->{then};
    return counted($parent) if ($k // '') eq 'counted';
    if (($k // '') eq 'again') {
        forget_notes($parent);
        wait_for_retry($parent, $parent->{retry}, $p->{failed_at});
        return move_to($parent, 'INIT');
    }
    return defined $k ? begin($m, $parent->{node}{catches}[$k], $parent, $k + 2) : settle($parent);
}

# ---- what drivers do

sub taken {
    my ($p, $data) = @_;
    my ($request, $state) = ($data->{request}, $p->{state});
    my $fits = $request eq 'start' ? $state eq 'INIT'
        : $request eq 'poll'       ? $state eq 'EXECUTING'
        : $request eq 'cancel'     ? $state =~ /^(CANCEL|ABORT)_REQUESTED$/
        :                            $state =~ /CLEANUP_REQUESTED$/;
    return "was handed out in $state to $request" unless $fits;
    return "was handed out twice" if $p->{lease};
    return "was handed out before its time" if $request eq 'start' && defined $p->{retry_due};
    return "was started while its instance was suspended" if $request eq 'start' && $p->{m}{state} eq 'SUSPENDED';
    return "was handed out as attempt $data->{attempt}" if $data->{attempt} != $p->{attempt};
    if (my $wrong = $request eq 'start' && spend_rate($p)) { return $wrong }
    $p->{lease} = { k => $data->{k}, driver => $data->{driver}, request => $request };
    $p->{state} = 'START_REQUESTED' if $request eq 'start';
    return undef;
}

sub reported {
    my ($p, $data) = @_;
    my $lease = $p->{lease};
    my $counts = $lease && $lease->{k} == $data->{k};
    my $done = $data->{answer} eq 'done';
    return 'a report was answered ' . $data->{answer} if $counts xor $done;
    return undef unless $counts;
    my ($event, $body, $request) = ($data->{event}, $data->{body}, $lease->{request});
    if ($event eq 'ack') {
        $p->{state} = 'EXECUTING';
        return undef;
    }
    delete $p->{lease};
    if ($event eq 'release') {
        return given_back($p, $request);
    }
    $p->{lost_last} = 0;
    # whatever the response to a plain task is, it is not even looked at
    my $plain = type($p) eq 't.Plain' && $p->{state} eq 'START_REQUESTED';
    my $good = $event eq 'response' && (!$data->{junk} || $plain);
    if ($request eq 'cancel' || $request eq 'cleanup') {
        return undef if !$good && ++$p->{failures} < $ATTEMPTS;
        return $request eq 'cancel' ? outcome(cancelled($p)) : outcome(cleaned($p));
    }
    # a report that cannot be read says as much as a body that is not an object
    my $kind = $event eq 'error' && !$data->{junk} ? 'http' : 'output';
    if ($request eq 'start') {
        return outcome(failure($p, $kind)) if !$good;
        # what is neither an object nor null has no fields
        return outcome(failure($p, 'output')) if defined $body && !is_object($body) && type($p) !~ /Plain|Named/;
        return outcome(answered_together($p, is_object($body) ? $body->{results} : undef)) if $p->{calls};
        return outcome(succeeded($p, is_object($body) ? $body->{value} : undef)) if $p->{kind} eq 'sync';
        $p->{handle} = { id => is_object($body) ? $body->{id} : undef } if type($p) ne 't.Named';
        is_active($p);
        ask_cancel($p, $p->{state}) if $p->{state} ne 'EXECUTING';
        return undef;
    }
    if (!$good) {
        if (++$p->{failures} >= $ATTEMPTS) {
            return outcome(failure($p, $kind));
        }
        ask_cancel($p, $p->{state}) if $p->{state} ne 'EXECUTING';
        return undef;
    }
    my $state = is_object($body) ? $body->{state} : defined $body ? 'bad' : '';
    return outcome(failure($p, is_object($body) ? 'failed' : 'output')) if $state eq 'bad';
    return outcome(succeeded($p, $body->{value})) if $state eq 'done';
    $p->{failures} = 0;
    ask_cancel($p, $p->{state}) if $p->{state} ne 'EXECUTING';
    return undef;
}

# The first call whose clauses refuse its result fails all; else each of those
# that have an output binds it.
sub answered_together {
    my ($p, $results) = @_;
    my %output;
    for my $k (0 .. $#{ $p->{calls} }) {
        my ($call, $value) = ($p->{node}{steps}[$k], ($results // [])->[$k]{value});
        return failure($p, 'failed') if same($value, $call->{type} eq 't.Set' ? 3 : 'a');
        $output{ $call->{as} } = $value if $call->{as} && $call->{type} eq 't.Set';
    }
    return succeeded($p, \%output);
}

# What has been done needs no answer.
sub outcome { return undef }

# Taken, but not begun.
sub given_back {
    my ($p, $request) = @_;
    if ($request eq 'start') {
        if ($p->{state} =~ /^(START_REQUESTED|EXECUTING)$/) { move_to($p, 'INIT') }
        else                                               { cancelled($p) }
    }
    elsif ($request eq 'poll' && $p->{state} ne 'EXECUTING') { ask_cancel($p, $p->{state}) }
    return undef;
}

# A request is lost in a row with the one before of its sort if nothing lies
# between them, and a start if no retry does.
sub lost {
    my ($p, $data) = @_;
    my $lease = $p->{lease};
    return undef unless $lease && $lease->{k} == $data->{k};
    delete $p->{lease};
    my ($request, $often) = ($lease->{request}, 0);
    if ($data->{died}) {
        my $sort = "$request $p->{attempt}";
        $p->{losses} = ($p->{lost_sort} // '') eq $sort && ($request eq 'start' || $p->{lost_last}) ? $p->{losses} + 1 : 1;
        $p->{lost_sort} = $sort;
        $often = $p->{losses} >= $LOSS_LIMIT;
    }
    taken_back($p, $request, $often);
    $p->{lost_last} = 1;
    return undef;
}

sub taken_back {
    my ($p, $request, $often) = @_;
    my $state = $p->{state};
    if ($state eq 'START_REQUESTED') {
        return !$often && ($p->{kind} eq 'async' || idempotent($p)) ? move_to($p, 'INIT') : lost_for_good($p);
    }
    if ($state eq 'EXECUTING') {
        return lost_for_good($p) if $often;
        return if defined $p->{handle} || $request ne 'start';
        return idempotent($p) ? move_to($p, 'INIT') : lost_for_good($p);
    }
    if ($state =~ /^(CANCEL|ABORT)_REQUESTED$/) {
        return cancelled($p) if $p->{kind} eq 'sync' || $often && $request eq 'cancel';
        return ask_cancel_again($p);
    }
    return cleaned($p) if $often;
    return;    # a cleanup is repeated
}

# All that a driver has lost has failed before anything follows from that. The drivers
# that are gone come one after the other.
sub lost_for_good {
    my ($p) = @_;
    has_failed($p, 'lost');
    push @{ $p->{m}{world}{lost} }, $p;
    return;
}

sub lost_together {
    my ($one, $other) = @_;
    return $other && $one->{what} eq 'lost' && $other->{what} eq 'lost' && ($one->{data}{driver} // 0) == ($other->{data}{driver} // 0);
}

sub ask_cancel_again {
    my ($p) = @_;
    cancelled($p) unless asks($p);
    return;
}

# ---- what operators do

sub may {
    my ($p, $verb) = @_;
    return $p->{state} eq 'FAILED' || $verb eq 'retry' && $p->{state} eq 'INIT' && defined $p->{retry_due} if $verb ne 'cancel';
    return leaf($p) ? $p->{state} =~ /^(INIT|START_REQUESTED|EXECUTING|WAITING)$/ : $p->{state} eq 'INIT';
}

sub operated {
    my ($p, $data) = @_;
    my ($verb, $m) = ($data->{verb}, $p->{m});
    if (delete $p->{cancelled}) {
        # nothing has been tried: no policy has it tried again
        return $p->{state} eq 'FAILED' ? outcome(see_to($p, 'cancelled', 1)) : undef;
    }
    my $done = $data->{answer} eq 'done';
    return undef if ($done xor may($p, $verb)) && is_given_up($m, $p->{path});
    return "$verb in $p->{state} was answered $data->{answer}" if $done xor may($p, $verb);
    return undef unless $done;
    my $async = $p->{kind} eq 'async';
    if ($verb eq 'cancel') { begin_cancel($p) }
    elsif ($verb eq 'retry') {
        $p->{attempt}++ if $p->{state} eq 'FAILED';
        $p->{retry_from} = $p->{attempt};
        my $waits = defined delete $p->{retry_due};
        delete @$p{qw(output has_output)};
        if    (!leaf($p))          { $p->{too_late} ? begin_anew($p) : has_rounds($p) ? next_round($p) : enter($p) }
        elsif ($async && !$waits) { ask_cleanup($p, 'RETRY_CLEANUP_REQUESTED') }
        else                      { again($p) }
    }
    elsif ($verb eq 'raise') {
        if    (handled($p)) { return undef }
        elsif ($async)      { ask_cleanup($p, 'RAISE_CLEANUP_REQUESTED') }
        else                { raised($p) }
    }
    elsif ($verb =~ /^(ignore|skip)$/) {
        leave_unbound($p) if $verb eq 'skip';
        ignored($p);
    }
    else {
        @$p{qw(output has_output)} = ($data->{output}, 1);
        if   ($async) { ask_cleanup($p, 'CLEANUP_REQUESTED') }
        else          { ended($p, $verb) }
    }
    return undef;
}

sub begin_cancel {
    my ($p) = @_;
    return move_to($p, 'CANCEL_REQUESTED') if $p->{kind} ne 'async';
    delete $p->{lease} if $p->{state} eq 'START_REQUESTED';
    return ask_cancel($p, 'CANCEL_REQUESTED');
}

# All that a cancel reaches before it was started has failed before anything
# follows from that.
sub cancel_together {
    my (@p) = @_;
    for my $p (grep { may($_, 'cancel') && fails_at_once($_) } @p) {
        $p->{cancelled} = 1;
        delete $p->{retry_due};
        has_failed($p, 'cancelled');
    }
    return;
}

# ---- the replay

# Where things ran beside each other in the body of a try whose error was caught,
# how far that came which moved in the same window depends on which of several
# moves of one moment comes first. All else in such a body is compared.
sub is_given_up {
    my ($m, $path) = @_;
    my ($p, $id) = ($m->{processes}{$path}, $m->{id}{$path});
    for my $body (grep { ($_->{given_up} || $_->{cut}) && index($path, "$_->{path}/") == 0 && has_branches($_) } values %{ $m->{processes} }) {
        # an error that comes out of a finally gives it up once more; a deadline may end several rounds
        for my $window (@{ $body->{given_up} // [] }, @{ $body->{cut} // [] }) {
            return 1 if $p && ($p->{born} == $window || $p->{touched}{$window});
            return 1 if !$p && $id > $m->{world}{last}[ $window - 1 ] && $id <= ($m->{world}{last}[$window] // $id);
        }
    }
    return 0;
}

sub has_branches {
    my ($p) = @_;
    return $p->{branches} //= $json->encode($p->{node}) =~ /"kind":"(par|dag|forall|race)"/ ? 1 : 0;
}

# Something other than a stop moves it.
sub touch {
    my ($p) = @_;
    $_->{touched}{ $p->{m}{world}{window} } = 1 for around($p);
    return;
}

# Whether it is in a finally or undo below that body, or is one.
sub in_finally {
    my ($p, $body) = @_;
    for (; $p && $p != $body; $p = $p->{parent}) {
        return 1 if $p->{kind} =~ /^(finally|undo)$/;
    }
    return 0;
}

# What was given up has ended when the try goes on, and nothing began in it since.
sub left_alive {
    my ($world, $played) = @_;
    for my $theirs (@{ $played->{processes} }) {
        my $m = $world->{instances}{ $theirs->{instance} };
        for my $body (grep { defined $_->{given_up} && index($theirs->{path}, "$_->{path}/") == 0 } values %{ $m->{processes} }) {
            return "$theirs->{path} is $theirs->{state}, but $body->{path} around it has ended" if $TERMINAL{ $body->{state} } && !$TERMINAL{ $theirs->{state} };
            return "$theirs->{path} has begun after the error of $body->{path} was caught" if $theirs->{id} > $world->{last}[ $body->{given_up}[-1] ] && !in_finally($m->{processes}{ $theirs->{path} }, $body);
        }
    }
    return undef;
}

# All that is due at a moment moves in it. A microsecond may be lost where a delay was rounded.
sub pass_time {
    my ($m) = @_;
    my @all = sort { $a->{path} cmp $b->{path} } values %{ $m->{processes} };
    my @due     = grep { $_->{state} eq 'WAITING' && defined $_->{due} && $_->{due} <= $m->{now} + 1 } @all;
    my @retried = grep { defined $_->{retry_due} && $_->{retry_due} <= $m->{now} + 1 } @all;
    touch($_) for @due, @retried;
    $_->{state} eq 'WAITING' and ended($_, 'end') for @due;
    for my $p (@retried) {
        delete $p->{retry_due};
        again($p) if $p->{state} eq 'INIT';
    }
    return;
}

# Of reports that come together the workspace makes all moves before it sees to what failed, by number.
sub successes_first {
    my @ordered;
    while (@_) {
        push @ordered, shift;
        next if $ordered[-1]{what} ne 'report';
        my @batch = pop @ordered;
        push @batch, shift while @_ && $_[0]{what} eq 'report';
        push @ordered, grep({ !reports_failure($_->{data}) } @batch), sort { $a->{process} <=> $b->{process} } grep { reports_failure($_->{data}) } @batch;
    }
    return @ordered;
}

sub reports_failure {
    my ($data) = @_;
    return $data->{event} eq 'error' || $data->{junk} || defined $data->{body} && !is_object($data->{body});
}

sub replay {
    my ($made, $played) = @_;
    my %path = map { $_->{id} => $_->{path} } @{ $played->{processes} };
    my (%instance, %id, %state, $paused);
    my $world = { window => 1, instances => \%instance, last => [0], given => {}, max => {} };
    for (@{ $played->{processes} }) {
        $id{ $_->{instance} }{ $_->{path} }    = $_->{id};
        $state{ $_->{instance} }{ $_->{path} } = $_->{state};
    }
    @$world{qw(ids states)} = (\%id, \%state);
    $world->{trees} = { map { $_->{name} => $_ } @{ $made->{spec}{workflows} } };
    # which instances each task has started
    push @{ $world->{born}{"$_->{parent} $path{ $_->{task} }"} }, $_->{id} for grep { defined $_->{parent} } @{ $played->{instances} };
    $world->{fired} = { map { ("$_->{schedule} " . sprintf '%.0f', $_->{time} * 1e6) => { %$_, at => sprintf '%.0f', $_->{at} * 1e6 } } @{ $played->{firings} } };
    my @steps = successes_first(@{ $played->{steps} });
    while (my $step = shift @steps) {
        my ($what, $data) = @$step{qw(what data)};
        $step->{at} = sprintf '%.0f', $step->{at} * 1e6;
        $_->{now} = $step->{at} for values %instance;
        if ($what eq 'start') {
            begin_instance($world, $step->{instance}, @$data{qw(workflow params priority tags)}, $step->{at});
        }
        elsif ($what eq 'settle') {
            my $wrong = (delete $world->{ticked} ? overdue($world) : undef) // grant($world, $data->{groups});
            return "step $step->{k}: $wrong" if defined $wrong;
        }
        elsif ($what eq 'stand') {
            my $wrong = stand($world, \%path, @$data{qw(tasks torn)});
            return "step $step->{k}: $wrong" if defined $wrong;
            $world->{last}[ $world->{window}++ ] = $data->{last};
        }
        elsif ($what eq 'group') {
            $world->{given}{ $data->{name} } = { window => $world->{window}, max => [ $data->{max} ] };
        }
        elsif ($what eq 'poll' || $what eq 'tick') {
            pass_time($_) for values %instance;
            $world->{ticked} = 1 if $what eq 'tick';    # a poll looks at limits once a second only
        }
        elsif ($what eq 'limit') { ($LOSS_LIMIT, $WINDOW) = @$data{qw(losses window)} }
        elsif ($what eq 'move') {
            my %moved = map { $_ => 1 } @{ $data->{requests} };
            for my $p (map { values %{ $_->{processes} } } values %instance) {
                $p->{lease}{driver} = $data->{driver} if $p->{lease} && $moved{ $p->{lease}{k} };
            }
        }
        elsif ($what eq 'verb' && $data->{verb} =~ /^(abort|undo)$/) {
            my $m = $instance{ $step->{instance} };
            return "step $step->{k}: abort in $m->{state} was answered $data->{answer}" if $data->{answer} =~ /^(done|begun)$/ xor $m->{state} =~ /^(RUNNING|SUSPENDED)$/;
            $m->{undoes} = $data->{verb} eq 'undo' if $m->{state} =~ /^(RUNNING|SUSPENDED)$/;
            abort_instance($m, 0);
        }
        elsif ($what eq 'verb' && $data->{verb} =~ /^(suspend|resume)$/) {
            my $m = $instance{ $step->{instance} };
            my ($from, $to) = $data->{verb} eq 'suspend' ? ('RUNNING', 'SUSPENDED') : ('SUSPENDED', 'RUNNING');
            return "step $step->{k}: $data->{verb} in $m->{state} was answered $data->{answer}" if $data->{answer} eq 'done' xor $m->{state} eq $from;
            next if $m->{state} ne $from;
            $m->{state} = $to;
            $to eq 'SUSPENDED' ? suspended($m) : resumed($m);
        }
        elsif ($what eq 'signal') {
            my $m = $instance{ $step->{instance} };
            push @{ $m->{kept}{"signal $data->{name}"} }, undef;
            take_signal($m, "signal $data->{name}");
        }
        elsif ($what eq 'work') {
            my $wrong = work_done($world, ($data // {})->{kind} // '', $step->{at});
            return "step $step->{k}: $wrong" if defined $wrong;
        }
        elsif ($OUTSIDE{$what}) {
            my $wrong = $OUTSIDE{$what}->($world, $data, $instance{ $step->{instance} // 0 }, $step->{at});
            return "step $step->{k}: $wrong" if defined $wrong;
        }
        elsif ($what =~ /^(pause|unpause)$/) {
            $world->{since} = $step->{at} if $paused;
            $paused = $world->{paused} = $what eq 'pause';
        }
        elsif ($what =~ /^(take|report|verb|lost|answer)$/ && defined $step->{process}) {
            my $path = $path{ $step->{process} };
            my $p    = $instance{ $step->{instance} }{processes}{$path};
            my $wrong;
            if    (!$p)                         { $wrong = is_given_up($instance{ $step->{instance} }, $path) ? undef : 'has not begun in the model' }
            elsif ($what eq 'take' && $paused) { $wrong = 'was handed out while the engine was paused' }
            else {
                touch($p) if $what !~ /^(take|answer)$/;
                if ($what eq 'verb' && $data->{verb} eq 'cancel' && !$p->{cancelled}) {
                    my @too = ($step);
                    push @too, $steps[@too - 1] while $steps[@too - 1] && $steps[@too - 1]{what} eq 'verb' && $steps[@too - 1]{data}{verb} eq 'cancel';
                    cancel_together(map { $instance{ $_->{instance} }{processes}{ $path{ $_->{process} } } // () } grep { $_->{data}{answer} eq 'done' } @too);
                }
                $wrong = $REPLAY{$what}->($p, $data);
            }
            return "step $step->{k}: $path $wrong" if defined $wrong;
        }
        elsif ($what eq 'late') {
            my $wrong = end_late($instance{ $step->{instance} });
            return "step $step->{k}: instance $step->{instance} $wrong" if defined $wrong;
        }
        elsif ($what eq 'timeout') {
            my $path = $path{ $step->{process} };
            my $p    = $instance{ $step->{instance} }{processes}{$path};
            if ($p) {
                touch($p);
                push @{ $world->{timeouts} }, { p => $p, limit => $data->{limit} };
            }
            elsif (!is_given_up($instance{ $step->{instance} }, $path)) { return "step $step->{k}: $path has not begun in the model" }
            if (!@steps || $steps[0]{what} ne 'timeout') {
                my $together = delete $world->{timeouts} // [];
                my $wrong = time_out_together($world, $together) // overdue($world, @$together);
                return "step $step->{k}: $wrong" if defined $wrong;
            }
        }
        unless (lost_together($step, $steps[0])) { see_to($_, 'lost') for @{ delete $world->{lost} // [] } }
        take_early($world) unless $what eq 'report' && @steps && $steps[0]{what} eq 'report';
        keep_time($_) for all_processes($world);
    }
    my ($later) = grep { late($instance{$_}) } sort keys %instance;
    return (left_alive($world, $played) // schedules_differ($world) // ($later ? "instance $later ends late, but has not ended" : undef), \%instance);
}

# What became of each time of the schedules.
sub schedules_differ {
    my ($world) = @_;
    my %mine = map { my $s = $_; map { ("$s->{name} $_" => $s->{firings}{$_}) } keys %{ $s->{firings} } } values %{ $world->{schedules} // {} };
    my %theirs = map { $_ => $world->{fired}{$_}{state} } keys %{ $world->{fired} };
    for (sort keys %{ { %mine, %theirs } }) {
        return sprintf 'time of schedule %s: the model says %s, the workspace %s', $_, $mine{$_} // 'nothing', $theirs{$_} // 'nothing' if ($mine{$_} // '') ne ($theirs{$_} // '');
    }
    return undef;
}

# Those that start gave, and those of the workflow that are not among them.
sub tags {
    my ($start, $tree) = @_;
    my %given = map { $_ => 1 } my @tags = @{ $start->{tags} // [] };
    my $own = ($tree->{policies} // {})->{tags} or return \@tags;
    return [ @tags, grep { !$given{$_} } @{ evaluate($own, { names => $start->{params} }) } ];
}

sub begin_root {
    my ($m, $tree) = @_;
    return begin($m, { kind => 'call', steps => $tree->{steps}, policies => $tree->{policies} }, undef, 1);
}

# What each side says, one line for each thing.
sub lines_of_model {
    my ($instance) = @_;
    my @lines;
    for my $id (sort { $a <=> $b } keys %$instance) {
        my $m = $instance->{$id};
        push @lines, sprintf '%s is %s %s %s, tagged %s', $id, $m->{state}, $m->{result} // '-', map { $json->encode($_) } @$m{qw(output tags)};
        push @lines, map { "$id $_" } @{ $m->{history} };
        push @lines, map { callback_line($id, $_, @{ $m->{callbacks}{$_} }{qw(progress used)}) } keys %{ $m->{callbacks} // {} };
        for my $p (values %{ $m->{processes} }) {
            push @lines, "$id $p->{path} is $p->{state}, attempt $p->{attempt}";
            next unless $p->{scope};
            my $names = $p->{scope}{names};
            push @lines, map { "$id $p->{path} binds $_ = " . $json->encode($names->{$_}) } grep { /^[vp]/ } keys %$names;
        }
    }
    return @lines;
}

sub callback_line {
    my ($id, $name, $progress, $used) = @_;
    return sprintf '%s callback %s is %s, progress %s', $id, $name, $used ? 'used' : 'not used', $json->encode($progress);
}

sub lines_of_workspace {
    my ($played) = @_;
    return (
        map({ sprintf '%s is %s %s %s, tagged %s', @$_{qw(id state)}, $_->{result} // '-', $json->encode($_->{output}), $json->encode($_->{tags}) } @{ $played->{instances} }),
        map({ "$_->{instance} $_->{path} is $_->{state}, attempt $_->{attempt}" } @{ $played->{processes} }),
        map({ callback_line(@$_{qw(instance name progress used)}) } @{ $played->{callbacks} }),
        map({ "$_->{instance} $_->{path} fails, attempt $_->{attempt}, $_->{kind}" } @{ $played->{failures} }),
        map({ "$_->{instance} $_->{path} is retried, attempt $_->{attempt}, due " . sprintf('%.0f', $_->{due} * 1e6) } @{ $played->{retries} }),
        map({ "$_->{instance} $_->{path} binds $_->{name} = " . $json->encode($_->{value}) } grep { $_->{name} =~ /^[vp]/ } @{ $played->{bindings} })
    );
}

sub compare {
    my ($made, $played) = @_;
    my ($wrong, $instance) = replay($made, $played);
    return $wrong if defined $wrong;
    my $counts = sub { return !($_[0] =~ /^(\d+) (root\S*) / && is_given_up($instance->{$1}, $2)) };
    my %mine   = map { $_ => 1 } grep { $counts->($_) } lines_of_model($instance);
    my %theirs = map { $_ => 1 } grep { $counts->($_) } lines_of_workspace($played);
    my @more = sort grep { !$mine{$_} } keys %theirs;
    my @less = sort grep { !$theirs{$_} } keys %mine;
    return undef unless @more || @less;
    return sprintf 'model: it says [%s], the workspace [%s]', join('; ', @less), join('; ', @more);
}

1;
